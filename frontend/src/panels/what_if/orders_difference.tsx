// What the first plan of only one future orders, and what was assumed.
import type { WhatIfAnswer } from "../../api/types";
import { Panel } from "../../frame/panel";
import { useLanguage, useSay } from "../../language/language";
import { whatIfWords } from "./what_if_words";

const MOST_SHOWN = 12;

export function OrdersDifference({ answer }: { readonly answer: WhatIfAnswer }) {
  const say = useSay(whatIfWords);
  const isChinese = useLanguage() === "zh";
  const lists = [
    { heading: say("orders.more"), orders: answer.only_changed },
    { heading: say("orders.less"), orders: answer.only_as_is },
  ].filter(({ orders }) => orders.length > 0);
  return (
    <Panel title={say("orders")}>
      {lists.length === 0 && <p className="note">{say("orders.same")}</p>}
      {lists.map(({ heading, orders }) => (
        <section key={heading} className="note">
          <h3>{heading}</h3>
          <ul>
            {orders.slice(0, MOST_SHOWN).map((one) => (
              <li key={one.text_en}>{isChinese ? one.text_zh : one.text_en}</li>
            ))}
          </ul>
        </section>
      ))}
      <details>
        <summary>{say("assumed")}</summary>
        <ul>
          {(isChinese ? answer.assumed_zh : answer.assumed_en).map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      </details>
    </Panel>
  );
}
