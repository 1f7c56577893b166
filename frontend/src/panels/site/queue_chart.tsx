// People waiting by stage over the day: every reading, none averaged.
import { useMemo } from "react";
import type { Reading } from "../../api/types";
import { axes } from "../../charts/axes";
import { Chart } from "../../charts/chart";
import { cityWords } from "../../language/city_words";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import { useColours } from "../../theme/colours";
import { siteWords } from "./site_words";
import { STAGES } from "./stages";

const READINGS_PER_HOUR = 12;

export function QueueChart({ readings }: { readonly readings: readonly Reading[] }) {
  const say = useSay(siteWords);
  const sayCity = useSay(cityWords);
  const { clockTime, number } = useFormat();
  const colours = useColours();
  const option = useMemo(() => {
    const times = readings.map((reading) => clockTime(reading.valid_at));
    const stageColours = [colours["flow-staff"], colours.busy, colours.crowded, colours.clear];
    const series = STAGES.map((stage, idx) => ({
      name: sayCity(`queue.${stage}`),
      type: "line",
      symbol: "none",
      data: readings.map((reading) => reading.waiting_people?.[stage] ?? null),
      lineStyle: { color: stageColours[idx], width: 1.6, type: idx === 3 ? "dashed" : "solid" },
      itemStyle: { color: stageColours[idx] },
    }));
    return { ...axes(colours, { times, labelEvery: READINGS_PER_HOUR }), series };
  }, [readings, colours, clockTime, sayCity]);
  const latest = readings.at(-1)?.valid_at ?? null;
  const table = () => (
    <table>
      <thead>
        <tr>
          <th scope="col">{say("known.since")}</th>
          {STAGES.map((stage) => (
            <th key={stage} scope="col">
              {sayCity(`queue.${stage}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {readings.map((reading) => (
          <tr key={reading.valid_at + reading.received_at}>
            <th scope="row">{clockTime(reading.valid_at)}</th>
            {STAGES.map((stage) => (
              <td key={stage}>{number(reading.waiting_people?.[stage])}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  return (
    <>
      <h3>{say("queue.over_day")}</h3>
      <Chart
        option={option}
        label={say("queue.chart_label", { count: readings.length, time: clockTime(latest) })}
        table={table}
      />
    </>
  );
}
