// The rest of today twice: as it stands, and with a change.
import { Known, Panel } from "../../frame/panel";
import { ProblemNote } from "../../frame/problem_note";
import { useSay } from "../../language/language";
import { useCity } from "../../state/use_city";
import { ChangeForm } from "./change_form";
import { CommandsPanel } from "./commands_panel";
import { FiguresPanel } from "./figures_panel";
import { FuturesChart } from "./futures_chart";
import { OrdersDifference } from "./orders_difference";
import { useWhatIf } from "./use_what_if";
import "./what_if.css";
import { whatIfWords } from "./what_if_words";

const FIGURES = [
  ["waiting_people", "waiting"],
  ["wait_minutes", "wait"],
] as const;
const SITES_DRAWN = 3;
// A wait shorter than this is no news.
const TOLD_FROM_SECONDS = 2;

export default function WhatIfPage() {
  const say = useSay(whatIfWords);
  const city = useCity();
  const { answer, problem, seconds, run } = useWhatIf();
  const places = answer ? [answer.city, ...answer.sites.slice(0, SITES_DRAWN)] : [];
  return (
    <div className="what-if">
      <Panel title={say("title")}>
        <p className="note">{say("lead")}</p>
        <Known kept={city}>{(known) => <ChangeForm city={known} isRunning={seconds !== null} onRun={run} />}</Known>
        <p className="note" role="status">
          {seconds !== null && seconds >= TOLD_FROM_SECONDS && say("running", { seconds })}
          {seconds === null && answer && say("told", { count: answer.num_replicas, seconds: answer.seconds })}
        </p>
        {problem && <ProblemNote problem={problem} />}
      </Panel>
      {answer &&
        places.map((place) => (
          <Panel key={place.site_id ?? ""} title={place.name}>
            {FIGURES.map(([figure, word]) => (
              <section key={figure}>
                <h3 className="note">{say(word)}</h3>
                <FuturesChart place={place} figure={figure} answer={answer} label={`${place.name}: ${say(word)}`} />
              </section>
            ))}
          </Panel>
        ))}
      {answer && <FiguresPanel answer={answer} />}
      {answer && <OrdersDifference answer={answer} />}
      {answer && <CommandsPanel answer={answer} />}
    </div>
  );
}
