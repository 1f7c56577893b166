// The queue by stage: who waits, who serves, what is open; and how it grew over the day.

import type { SiteDay, SiteDetail } from "../../api/types";
import { Known, Panel } from "../../frame/panel";
import { Scrolls } from "../../frame/scrolls";
import { cityWords } from "../../language/city_words";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import type { Kept } from "../../state/answers";
import { QueueChart } from "./queue_chart";
import { siteWords } from "./site_words";
import { STAGES, type Stage } from "./stages";

const ROLE_OF_STAGE: Readonly<Record<Stage, string>> = {
  registration: "registrar",
  screening: "screener",
  vaccination: "vaccinator",
  observation: "observer",
};

interface QueuePanelProps {
  readonly detail: SiteDetail;
  readonly day: Kept<SiteDay>;
}

export function QueuePanel({ detail, day }: QueuePanelProps) {
  const say = useSay(siteWords);
  return (
    <Panel title={say("queue.title")}>
      <Scrolls label={say("queue.title")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{say("queue.stage")}</th>
              <th scope="col">{say("queue.people")}</th>
              <th scope="col">{say("queue.staff")}</th>
              <th scope="col">{say("queue.stations")}</th>
            </tr>
          </thead>
          <tbody>
            {STAGES.map((stage) => (
              <StageLine key={stage} stage={stage} detail={detail} />
            ))}
          </tbody>
        </table>
      </Scrolls>
      <Known kept={day}>{({ readings }) => <QueueChart readings={readings} />}</Known>
    </Panel>
  );
}

function StageLine({ stage, detail: { site } }: { readonly stage: Stage; readonly detail: SiteDetail }) {
  const say = useSay(siteWords);
  const sayCity = useSay(cityWords);
  const { number } = useFormat();
  const stations = { open: site.stations_open[stage], possible: site.stations_possible[stage] };
  const seats = { taken: site.seats_taken, possible: site.seats_possible };
  return (
    <tr>
      <th scope="row">
        {sayCity(`stage.${stage}`)}{" "}
        <span className="muted">{stage === "vaccination" && sayCity("queue.vaccination")}</span>
      </th>
      <td>{number(site.waiting_people[stage])}</td>
      <td>{number(site.staff_people[ROLE_OF_STAGE[stage]])}</td>
      <td>{stage === "observation" ? say("queue.seats", seats) : say("queue.of", stations)}</td>
    </tr>
  );
}
