// What the shift was like, to be handed over, printed and kept.
import { useMemo, useState } from "react";
import { addressOf } from "../../api/ask";
import type { SitesAnswer } from "../../api/types";
import { Known, Panel } from "../../frame/panel";
import { useFormat } from "../../language/format";
import { useLanguage, useSay } from "../../language/language";
import type { EventName } from "../../state/live_events";
import { useAnswer } from "../../state/use_answer";
import { useCity } from "../../state/use_city";
import "../what_if/what_if.css";
import { HandoverPanel } from "./handover_panel";
import { shiftWords } from "./shift_words";
import { SummaryPanel } from "./summary_panel";

const MILLISECONDS_PER_HOUR = 3_600_000;
const ON_HANDOVER: readonly EventName[] = ["handover_given", "handover_confirmed"];
const MOST_HOURS = 24;

export default function ShiftPage() {
  return <Known kept={useCity()}>{(city) => <Shift city={city} />}</Known>;
}

function Shift({ city }: { readonly city: SitesAnswer }) {
  const say = useSay(shiftWords);
  const language = useLanguage();
  const { clockTime } = useFormat();
  const [hours, setHours] = useState(8);
  // The end stands where the page was opened, or the hours chosen: figures to be handed over must not move.
  const [until, setUntil] = useState(() => Date.parse(city.now) + 1000);
  const asked = useMemo(() => {
    const from = new Date(until - hours * MILLISECONDS_PER_HOUR).toISOString();
    return { query: { from, to: new Date(until + MILLISECONDS_PER_HOUR).toISOString() } };
  }, [until, hours]);
  const summary = useAnswer("/api/v1/summaries/shift", asked, ON_HANDOVER);
  const as = (shape: "html" | "pdf") =>
    addressOf("/api/v1/summaries/shift", { query: { ...asked.query, shape, language } });
  const day = addressOf("/api/v1/summaries/day", { query: { on: city.now.slice(0, 10), shape: "html", language } });
  const choose = (chosen: number) => {
    setHours(Math.min(Math.max(chosen || 1, 1), MOST_HOURS));
    setUntil(Date.parse(city.now) + 1000);
  };
  return (
    <div className="shift">
      <Panel title={`${say("title")}, ${clockTime(until)}`}>
        <div className="change-form">
          <label>
            {say("hours")}
            <input
              type="number"
              min={1}
              max={MOST_HOURS}
              value={hours}
              onChange={(event) => choose(event.target.valueAsNumber)}
            />
          </label>
          <a href={as("html")}>{say("print")}</a>
          <a href={as("pdf")}>{say("pdf")}</a>
          <a href={day}>{say("day")}</a>
        </div>
      </Panel>
      <Known kept={summary}>
        {(told) => (
          <>
            <SummaryPanel summary={told} />
            <HandoverPanel summary={told} />
          </>
        )}
      </Known>
    </div>
  );
}
