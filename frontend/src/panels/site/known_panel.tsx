// Where each figure comes from, and of when it is; and what cannot well be true.

import type { SiteDetail } from "../../api/types";
import { Panel } from "../../frame/panel";
import { Scrolls } from "../../frame/scrolls";
import { cityWords } from "../../language/city_words";
import { useFormat } from "../../language/format";
import { useLanguage, useSay } from "../../language/language";
import { siteWords } from "./site_words";

export function KnownPanel({ detail }: { readonly detail: SiteDetail }) {
  const say = useSay(siteWords);
  const sayCity = useSay(cityWords);
  const { clockTime } = useFormat();
  return (
    <Panel title={say("known.title")}>
      <Anomalies detail={detail} />
      <Scrolls label={say("known.title")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{say("known.class")}</th>
              <th scope="col">{say("known.source")}</th>
              <th scope="col">{say("known.since")}</th>
            </tr>
          </thead>
          <tbody>
            {detail.classes.map((row) => (
              <tr key={row.feature_class} className={row.source === "reported" ? "" : "old"}>
                <th scope="row">{sayCity.named("class", row.feature_class)}</th>
                <td>{sayCity.named("source", row.source)}</td>
                <td>{clockTime(row.valid_at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolls>
    </Panel>
  );
}

function Anomalies({ detail }: { readonly detail: SiteDetail }) {
  const say = useSay(siteWords);
  const language = useLanguage();
  const { clockTime } = useFormat();
  if (!detail.anomalies.length) return null;
  return (
    <>
      <h3>{say("anomalies.title")}</h3>
      <ul>
        {detail.anomalies.map((one) => (
          <li key={`${one.kind} ${one.feature_class} ${one.fridge_id}`} className="alarming">
            {language === "zh" ? one.text_zh : one.text_en} {say("anomalies.since", { time: clockTime(one.since_at) })}
          </li>
        ))}
      </ul>
    </>
  );
}
