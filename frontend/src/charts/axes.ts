// Axes, grid and tip in the colours of the page. Tips are drawn and not marked up: the page allows no inline style.
import type { Colours } from "../theme/colours";
import type { EChartsCoreOption } from "./engine";

const LABEL_PIXELS = 11;

interface Extent {
  readonly min: number;
  readonly max: number;
}

export interface AxisChoice {
  readonly times: readonly string[];
  // One label in so many points.
  readonly labelEvery: number;
  readonly unit?: string;
  // What is seen at least; left out, from nought.
  readonly range?: { readonly low: number; readonly high: number };
}

export function axes(colours: Colours, { times, labelEvery, unit = "", range }: AxisChoice): EChartsCoreOption {
  const label = { color: colours.muted, fontSize: LABEL_PIXELS };
  return {
    animation: false,
    grid: { left: 40, right: 14, top: 16, bottom: 24 },
    tooltip: {
      trigger: "axis",
      renderMode: "richText",
      backgroundColor: colours.surface,
      borderColor: colours.line,
      textStyle: { color: colours.ink, fontSize: 12 },
    },
    xAxis: {
      type: "category",
      data: times,
      boundaryGap: false,
      axisLabel: { ...label, interval: (idx: number) => idx % labelEvery === 0 },
      axisTick: { show: false },
      axisLine: { lineStyle: { color: colours.line } },
    },
    yAxis: {
      type: "value",
      minInterval: 1,
      min: range && ((shown: Extent) => Math.floor(Math.min(range.low, shown.min))),
      max: range && ((shown: Extent) => Math.ceil(Math.max(range.high, shown.max))),
      axisLabel: { ...label, formatter: `{value}${unit}` },
      splitLine: { lineStyle: { color: colours.line } },
    },
  };
}

export function nowLine(colours: Colours, at: string | null, words: string): object {
  if (at === null) return {};
  return {
    markLine: {
      silent: true,
      symbol: "none",
      lineStyle: { color: colours.muted, type: "dashed" },
      label: { formatter: words, color: colours.muted, fontSize: LABEL_PIXELS },
      data: [{ xAxis: at }],
    },
  };
}
