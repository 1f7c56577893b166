// The change made real: each command goes through its own door, with a reason.
import { useState } from "react";
import type { WhatIfAnswer } from "../../api/types";
import { Panel } from "../../frame/panel";
import { useSay } from "../../language/language";
import { intents } from "../../state/intents";
import { whatIfWords } from "./what_if_words";

export function CommandsPanel({ answer }: { readonly answer: WhatIfAnswer }) {
  const say = useSay(whatIfWords);
  const [reason, setReason] = useState("");
  const [given, setGiven] = useState<WhatIfAnswer | null>(null);
  const give = () => {
    for (const { path, body } of answer.commands) intents.decide(path, { ...body, reason }, say("commands"));
    setGiven(answer);
  };
  return (
    <Panel title={say("commands")}>
      {answer.commands.length === 0 && <p className="note">{say("commands.none")}</p>}
      {answer.commands.length > 0 && given !== answer && (
        <div className="change-form">
          <label>
            {say("commands.reason")}
            <input value={reason} maxLength={1000} onChange={(event) => setReason(event.target.value)} />
          </label>
          <button className="button" type="button" disabled={!reason.trim()} onClick={give}>
            {say("commands.give")}
          </button>
        </div>
      )}
      <p className="note" role="status">
        {given === answer && say("commands.given")}
      </p>
    </Panel>
  );
}
