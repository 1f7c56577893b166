// Arrivals at the site against the forecast, and who has booked.
import type { SiteDay, SiteDetail } from "../../api/types";
import { ArrivalsChart } from "../../charts/arrivals_chart";
import { Known, Panel } from "../../frame/panel";
import { cityWords } from "../../language/city_words";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import type { Kept } from "../../state/answers";
import { siteWords } from "./site_words";

const BIN_MILLISECONDS = 15 * 60_000;

interface ArrivalsPanelProps {
  readonly detail: SiteDetail;
  readonly day: Kept<SiteDay>;
}

export function ArrivalsPanel({ detail, day }: ArrivalsPanelProps) {
  const say = useSay(siteWords);
  const sayCity = useSay(cityWords);
  const { number } = useFormat();
  const { q10, q50, q90 } = detail.site.forecast_next_hour_people;
  const label = say("arrivals.label", { low: number(q10), median: number(q50), high: number(q90) });
  const basis = detail.site.forecast_basis;
  return (
    <Panel title={say("arrivals.title")}>
      <p className="note">{detail.forecaster === null ? say("arrivals.none") : label}</p>
      <Known kept={day}>{({ arrivals }) => <ArrivalsChart day={arrivals} label={label} />}</Known>
      {detail.forecaster !== null && basis !== null && (
        <p className="muted note">
          {say("arrivals.note", { forecaster: detail.forecaster, basis: sayCity.named("basis", basis) })}
        </p>
      )}
      <Booked detail={detail} />
    </Panel>
  );
}

function Booked({ detail }: { readonly detail: SiteDetail }) {
  const say = useSay(siteWords);
  const { clockTime, number } = useFormat();
  const start = Date.parse(detail.now);
  return (
    <>
      <h3>{say("booked.title")}</h3>
      <dl className="bins">
        {detail.booked_people.map((people, bin) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a bin is its position.
          <div key={bin}>
            <dt>{clockTime(start + bin * BIN_MILLISECONDS)}</dt>
            <dd>{number(people)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
