// Arrivals against the forecast with its band, of a site or of the city.
import { useMemo } from "react";
import type { ArrivalsOfDay } from "../api/types";
import { useFormat } from "../language/format";
import { useSay } from "../language/language";
import { useColours } from "../theme/colours";
import { arrivalPoints, arrivalsOption } from "./arrivals";
import { Chart } from "./chart";
import { chartWords } from "./chart_words";

interface ArrivalsChartProps {
  readonly day: ArrivalsOfDay;
  readonly label: string;
  // A moment of the past to be marked; null marks now.
  readonly marked?: number | null;
}

export function ArrivalsChart({ day, label, marked = null }: ArrivalsChartProps) {
  const say = useSay(chartWords);
  const { clockTime, number } = useFormat();
  const colours = useColours();
  const points = useMemo(() => arrivalPoints(day), [day]);
  const option = useMemo(
    () => arrivalsOption(points, marked, colours, { say, clockTime }),
    [points, marked, colours, say, clockTime],
  );
  const table = () => (
    <table>
      <thead>
        <tr>
          <th scope="col">{say("chart.time")}</th>
          <th scope="col">{say("chart.arrived")}</th>
          <th scope="col">{say("chart.median")}</th>
          <th scope="col">{say("chart.band")}</th>
        </tr>
      </thead>
      <tbody>
        {points.map((point) => (
          <tr key={point.startsAt}>
            <th scope="row">{clockTime(point.startsAt)}</th>
            <td>{number(point.arrived)}</td>
            <td>{number(point.q50, 1)}</td>
            <td>
              {number(point.q10, 1)} … {number(point.q90, 1)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
  return <Chart option={option} label={label} table={table} />;
}
