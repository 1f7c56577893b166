// The page of the duty officer: what needs somebody now, where, and what comes next; or as it was at a moment of today.
import { lazy, Suspense, useCallback, useMemo, useState } from "react";
import type { Asked, OrderRow } from "../../api/types";
import { Known } from "../../frame/panel";
import { Loading, ProblemNote } from "../../frame/problem_note";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import { replaceQuery, usePlace } from "../../routing/route";
import { NEVER, ON_CYCLE, ON_ORDERS, useAnswer } from "../../state/use_answer";
import { useCity } from "../../state/use_city";
import "./now.css";
import { FiguresStrip } from "./figures_strip";
import { MapPanel } from "./map_panel";
import { momentOf, momentsBetween } from "./moments";
import { nowWords } from "./now_words";
import { SiteListPanel } from "./site_list_panel";
import { TimeSlider } from "./time_slider";

const CityForecast = lazy(() => import("./city_forecast"));
const OPEN_ORDERS: Asked<"/api/v1/orders"> = {
  query: { state: ["proposed", "sent", "acknowledged", "under_way"], limit: 1000 },
};
const ALL_ORDERS: Asked<"/api/v1/orders"> = { query: { limit: 5000 } };
const DAY = {} as const;
const NO_ORDERS: readonly OrderRow[] = [];

export default function NowPage() {
  const say = useSay(nowWords);
  const { clockTime } = useFormat();
  const shown = momentOf(usePlace().query);
  const [litId, setLitId] = useState<string | null>(null);
  const now = useCity();
  const then = useAnswer(
    "/api/v1/sites",
    shown === null ? null : { query: { at: new Date(shown).toISOString() } },
    NEVER,
  );
  const day = useAnswer("/api/v1/day", DAY, ON_CYCLE);
  const orders = useShownOrders(shown);
  const first = day.value?.first_cycle_at ?? null;
  const last = now.value?.as_of ?? null;
  const moments = useMemo(() => (last === null ? null : momentsBetween(first, last)), [first, last]);
  const choose = useCallback((moment: number | null) => {
    replaceQuery({ at: moment === null ? null : new Date(moment).toISOString() });
  }, []);
  const city = shown === null ? now : then;
  return (
    <div className="now">
      <h1 className="unseen">{say("now.title")}</h1>
      {shown !== null && <p className="banner past">{say("slider.past_note", { time: clockTime(shown) })}</p>}
      <Known kept={city}>
        {(sites) => (
          <>
            <FiguresStrip city={sites} orders={orders} />
            <MapPanel city={sites} orders={orders ?? NO_ORDERS} litId={litId} />
            <SiteListPanel city={sites} onLight={setLitId} />
          </>
        )}
      </Known>
      {city.value !== null && city.problem !== null && <ProblemNote problem={city.problem} />}
      {moments && <TimeSlider moments={moments} shown={shown} onChoose={choose} />}
      <Suspense fallback={<Loading />}>
        <CityForecast day={day} marked={shown} />
      </Suspense>
    </div>
  );
}

// Orders on their way at the moment shown; null where they are not known yet.
function useShownOrders(shown: number | null): readonly OrderRow[] | null {
  const open = useAnswer("/api/v1/orders", shown === null ? OPEN_ORDERS : null, ON_ORDERS);
  const all = useAnswer("/api/v1/orders", shown === null ? null : ALL_ORDERS, NEVER);
  return useMemo(() => {
    if (shown === null) return open.value?.orders ?? null;
    return all.value?.orders.filter((order) => wasUnderWay(order, shown)) ?? null;
  }, [shown, open.value, all.value]);
}

function wasUnderWay({ created_at, due_at }: OrderRow, moment: number): boolean {
  return Date.parse(created_at) <= moment && moment < Date.parse(due_at);
}
