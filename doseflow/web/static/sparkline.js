// Times of the latest cycles as a line, with the limit where it is in sight.
import { svgElement } from "./element.js";

const WIDTH = 120;
const HEIGHT = 34;

export function sparkline(values, { limit, label }) {
  const top = Math.max(...values, 1) * 1.15;
  const ceiling = limit <= top * 3 ? Math.max(top, limit * 1.1) : top;
  const step = WIDTH / Math.max(1, values.length - 1);
  const y = (value) => HEIGHT - 2 - (value / ceiling) * (HEIGHT - 4);
  const points = values.map((value, idx) => `${(idx * step).toFixed(1)},${y(value).toFixed(1)}`);
  const last = values.length - 1;
  return svgElement(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "sparkline", role: "img", "aria-label": label },
    limit <= ceiling ? svgElement("line", { x1: 0, x2: WIDTH, y1: y(limit), y2: y(limit), class: "sparkline-limit" }) : null,
    values.length > 1 ? svgElement("polyline", { points: points.join(" "), class: "sparkline-line" }) : null,
    svgElement("circle", { cx: Math.min(WIDTH - 2.5, last * step), cy: y(values[last]), r: 2.5, class: "sparkline-last" }),
  );
}
