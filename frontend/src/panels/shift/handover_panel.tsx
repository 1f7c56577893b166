// Giving the watch and taking it; both go out as decisions, so that a cut loses neither.
import { type FormEvent, useState } from "react";
import type { Summary } from "../../api/types";
import { Panel } from "../../frame/panel";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import { intents } from "../../state/intents";
import { shiftWords } from "./shift_words";

const EMPTY = { from: "", to: "", note: "" };

export function HandoverPanel({ summary }: { readonly summary: Summary }) {
  const say = useSay(shiftWords);
  const { dayAndTime } = useFormat();
  const [giving, setGiving] = useState(EMPTY);
  const give = (event: FormEvent) => {
    event.preventDefault();
    intents.decide("/api/v1/handover", giving, say("give"));
    setGiving(EMPTY);
  };
  const take = (id: number) => intents.decide(`/api/v1/handover/${id}/confirm`, {}, say("confirm"));
  return (
    <Panel title={say("handovers")}>
      <ul className="note">
        {summary.handovers.map((one) => (
          <li key={one.handover_id}>
            {dayAndTime(one.given_at)} {one.from_officer} → {one.to_officer} {one.note}{" "}
            {one.confirmed_by ? (
              say("confirmed")
            ) : (
              <button className="button" type="button" onClick={() => take(one.handover_id)}>
                {say("confirm")}
              </button>
            )}
          </li>
        ))}
      </ul>
      <form className="change-form" onSubmit={give}>
        {(["from", "to", "note"] as const).map((name) => (
          <label key={name}>
            {say(`give.${name}`)}
            <input
              name={name}
              value={giving[name]}
              required={name !== "note"}
              maxLength={name === "note" ? 4000 : 100}
              onChange={(event) => setGiving({ ...giving, [name]: event.target.value })}
            />
          </label>
        ))}
        <button className="button" type="submit">
          {say("give.send")}
        </button>
      </form>
    </Panel>
  );
}
