// Two futures of one figure, each with its band over the replicas.
import { useMemo } from "react";
import type { PlaceView, WhatIfAnswer } from "../../api/types";
import { axes } from "../../charts/axes";
import { Chart } from "../../charts/chart";
import { chartWords } from "../../charts/chart_words";
import type { EChartsCoreOption } from "../../charts/engine";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import { useColours } from "../../theme/colours";
import { whatIfWords } from "./what_if_words";

type Figure = "waiting_people" | "wait_minutes";
type Band = PlaceView["as_is"]["waiting_people"];
const FUTURES = ["as_is", "changed"] as const;
const MILLISECONDS_PER_MINUTE = 60_000;
const LABEL_EVERY = 4;

interface FuturesChartProps {
  readonly place: PlaceView;
  readonly figure: Figure;
  readonly answer: WhatIfAnswer;
  readonly label: string;
}

export function FuturesChart({ place, figure, answer, label }: FuturesChartProps) {
  const say = useSay(whatIfWords);
  const sayChart = useSay(chartWords);
  const { clockTime, number } = useFormat();
  const colours = useColours();
  const moments = useMemo(() => momentsOf(place, figure, answer), [place, figure, answer]);
  const option = useMemo<EChartsCoreOption>(() => {
    const times = moments.map(clockTime);
    const series = FUTURES.flatMap((name) => {
      const colour = name === "as_is" ? colours.muted : colours.accent;
      return bandSeries(name, say(`future.${name}`), place[name][figure], colour, name === "as_is");
    });
    return { ...axes(colours, { times, labelEvery: LABEL_EVERY }), series };
  }, [place, figure, moments, colours, say, clockTime]);
  const table = () => (
    <table>
      <thead>
        <tr>
          <th scope="col">{sayChart("chart.time")}</th>
          <th scope="col">{say("future.as_is")}</th>
          <th scope="col">{say("future.changed")}</th>
        </tr>
      </thead>
      <tbody>
        {moments.map((moment, idx) => (
          <tr key={moment}>
            <th scope="row">{clockTime(moment)}</th>
            <td>{number(place.as_is[figure].mean[idx], 1)}</td>
            <td>{number(place.changed[figure].mean[idx], 1)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
  return <Chart option={option} label={label} table={table} />;
}

function momentsOf(place: PlaceView, figure: Figure, answer: WhatIfAnswer): number[] {
  const period = answer.period_minutes * MILLISECONDS_PER_MINUTE;
  return place.as_is[figure].mean.map((_, idx) => Date.parse(answer.as_of) + (idx + 1) * period);
}

function bandSeries(stack: string, name: string, band: Band, colour: string, isDashed: boolean): object[] {
  const unseen = { type: "line", symbol: "none", stack, silent: true, lineStyle: { opacity: 0 } };
  const heights = band.p90.map((high, idx) => {
    const low = band.p10[idx];
    return high == null || low == null ? null : high - low;
  });
  return [
    { ...unseen, tooltip: { show: false }, data: band.p10 },
    { ...unseen, tooltip: { show: false }, data: heights, areaStyle: { color: colour, opacity: 0.2 } },
    {
      type: "line",
      name,
      symbol: "none",
      data: band.mean,
      lineStyle: { color: colour, width: 2, type: isDashed ? "dashed" : "solid" },
      itemStyle: { color: colour },
    },
  ];
}
