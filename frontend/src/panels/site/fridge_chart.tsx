// A fridge's temperature over the day, each reading a point, on the band it must keep.
import { useMemo } from "react";
import type { FridgeDay } from "../../api/types";
import { axes } from "../../charts/axes";
import { Chart } from "../../charts/chart";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import { useColours } from "../../theme/colours";
import { siteWords } from "./site_words";

const READINGS_PER_HOUR = 12;
const MARGIN_CELSIUS = 1;

export function FridgeChart({ fridge }: { readonly fridge: FridgeDay }) {
  const say = useSay(siteWords);
  const { clockTime, number } = useFormat();
  const colours = useColours();
  const option = useMemo(() => {
    const times = fridge.valid_at.map((moment) => clockTime(moment));
    const band = [{ yAxis: fridge.low_celsius }, { yAxis: fridge.high_celsius }];
    const series = {
      name: fridge.fridge_id,
      type: "line",
      symbol: "circle",
      symbolSize: 3,
      data: fridge.temperature_celsius,
      lineStyle: { color: colours.ink, width: 1.2 },
      itemStyle: { color: colours.ink },
      markArea: { silent: true, itemStyle: { color: colours.clear, opacity: 0.14 }, data: [band] },
    };
    // The band is always seen whole: how far a reading is from its edge is what matters.
    const range = { low: fridge.low_celsius - MARGIN_CELSIUS, high: fridge.high_celsius + MARGIN_CELSIUS };
    return { ...axes(colours, { times, labelEvery: READINGS_PER_HOUR, unit: "°", range }), series };
  }, [fridge, colours, clockTime]);
  const known = fridge.temperature_celsius.filter((celsius) => celsius !== null);
  const label = say("fridge.chart_label", {
    fridge: fridge.fridge_id,
    lowest: number(known.length ? Math.min(...known) : null, 1),
    highest: number(known.length ? Math.max(...known) : null, 1),
    count: known.length,
  });
  return <Chart option={option} label={label} className="low" />;
}
