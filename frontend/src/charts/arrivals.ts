// Who came against what was forecast: the day so far, and the fan of the two hours to come.
import type { ArrivalsOfDay } from "../api/types";
import type { Say } from "../language/language";
import type { Colours } from "../theme/colours";
import { axes, nowLine } from "./axes";
import type { chartWords } from "./chart_words";
import type { EChartsCoreOption } from "./engine";

const MILLISECONDS_PER_MINUTE = 60_000;
const PERIODS_PER_HOUR = 12;

export interface ArrivalPoint {
  readonly startsAt: number;
  readonly arrived: number | null;
  readonly isToCome: boolean;
  readonly q10: number | null;
  readonly q25: number | null;
  readonly q50: number | null;
  readonly q75: number | null;
  readonly q90: number | null;
}

// From the first period of which anything is known.
export function arrivalPoints(day: ArrivalsOfDay): ArrivalPoint[] {
  const start = Date.parse(day.starts_at);
  const told = (name: string, idx: number) => day.forecast_people[name]?.[idx] ?? null;
  const count = Math.max(day.arrived_people.length, day.forecast_people.q50?.length ?? 0);
  const points = Array.from({ length: count }, (_, idx) => ({
    startsAt: start + idx * day.period_minutes * MILLISECONDS_PER_MINUTE,
    arrived: day.arrived_people[idx] ?? null,
    isToCome: idx >= day.arrived_people.length,
    q10: told("q10", idx),
    q25: told("q25", idx),
    q50: told("q50", idx),
    q75: told("q75", idx),
    q90: told("q90", idx),
  }));
  const first = points.findIndex((point) => point.arrived !== null || point.q50 !== null);
  return first < 0 ? [] : points.slice(first);
}

export interface ArrivalWords {
  readonly say: Say<typeof chartWords.en>;
  readonly clockTime: (moment: number) => string;
}

export function arrivalsOption(
  points: readonly ArrivalPoint[],
  marked: number | null,
  colours: Colours,
  { say, clockTime }: ArrivalWords,
): EChartsCoreOption {
  const times = points.map((point) => clockTime(point.startsAt));
  const firstToCome = points.find((point) => point.isToCome)?.startsAt ?? null;
  const markedAt = marked ?? firstToCome;
  const markWords = marked === null ? say("chart.now") : clockTime(marked);
  const line = (name: string, data: readonly (number | null)[], more: object) => ({
    name,
    type: "line",
    symbol: "none",
    data,
    ...more,
  });
  return {
    ...axes(colours, { times, labelEvery: PERIODS_PER_HOUR }),
    series: [
      ...band("most", say("chart.most"), points, ["q10", "q90"], colours.accent, 0.16),
      ...band("half", say("chart.half"), points, ["q25", "q75"], colours.accent, 0.26),
      line(
        say("chart.median"),
        points.map((point) => point.q50),
        { lineStyle: { color: colours.accent, width: 1.5 }, itemStyle: { color: colours.accent } },
      ),
      line(
        say("chart.arrived"),
        points.map((point) => point.arrived),
        {
          lineStyle: { color: colours.ink, width: 1.8 },
          itemStyle: { color: colours.ink },
          ...nowLine(colours, markedAt === null ? null : clockTime(markedAt), markWords),
        },
      ),
    ],
  };
}

type Edge = "q10" | "q25" | "q75" | "q90";

// Two stacked lines: an unseen one at the lower edge, and the filled height above it.
function band(
  stack: string,
  name: string,
  points: readonly ArrivalPoint[],
  [low, high]: readonly [Edge, Edge],
  colour: string,
  opacity: number,
): object[] {
  const unseen = {
    type: "line",
    symbol: "none",
    stack,
    silent: true,
    lineStyle: { opacity: 0 },
    tooltip: { show: false },
  };
  const heights = points.map((point) =>
    point[low] === null || point[high] === null ? null : point[high] - point[low],
  );
  return [
    { ...unseen, data: points.map((point) => point[low]) },
    { ...unseen, name, data: heights, areaStyle: { color: colour, opacity } },
  ];
}
