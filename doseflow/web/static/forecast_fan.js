// Arrivals of the next two hours as a fan: the band in which 8 of 10 outcomes are expected, half of them in the darker one.
import { svgElement } from "./element.js";
import { clockTime, number, t } from "./language.js";

const BOX = { width: 372, height: 150, left: 30, right: 8, top: 10, bottom: 22 };
const TICKS_EVERY = 6;

export function forecastFan(points) {
  const known = points.filter((point) => point.arrivals_people.q50 !== null);
  if (!known.length) return null;
  const top = niceTop(Math.max(...known.map((point) => point.arrivals_people.q90)));
  const x = (idx) => BOX.left + (idx / Math.max(1, points.length - 1)) * (BOX.width - BOX.left - BOX.right);
  const y = (people) => BOX.height - BOX.bottom - (people / top) * (BOX.height - BOX.top - BOX.bottom);
  const line = (name) => points.map((point, idx) => `${x(idx).toFixed(1)},${y(point.arrivals_people[name] ?? 0).toFixed(1)}`);
  const band = (low, high, cls) => svgElement("polygon", { points: [...line(high), ...line(low).reverse()].join(" "), class: cls });
  return svgElement(
    "svg",
    { viewBox: `0 0 ${BOX.width} ${BOX.height}`, class: "fan", role: "img", "aria-label": summary(points) },
    ...rules(top, y),
    band("q10", "q90", "fan-wide"),
    band("q25", "q75", "fan-narrow"),
    svgElement("polyline", { points: line("q50").join(" "), class: "fan-median" }),
    ...points.map((point, idx) => (idx % TICKS_EVERY === 0 ? tick(x(idx), clockTime(point.starts_at)) : null)),
  );
}

function rules(top, y) {
  return [0, top / 2, top].flatMap((people) => [
    svgElement("line", { x1: BOX.left, x2: BOX.width - BOX.right, y1: y(people), y2: y(people), class: "fan-rule" }),
    svgElement("text", { x: BOX.left - 6, y: y(people) + 3.5, class: "fan-text", "text-anchor": "end", text: number(people, 1) }),
  ]);
}

function tick(x, text) {
  return svgElement("text", { x, y: BOX.height - 6, class: "fan-text", "text-anchor": "middle", text });
}

function niceTop(most) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most)));
  return [1, 2, 4, 6, 8, 10].map((step) => step * power).find((top) => top >= most) ?? 10 * power;
}

function summary(points) {
  const hour = points.slice(0, 12);
  const sum = (name) => Math.round(hour.reduce((total, point) => total + (point.arrivals_people[name] ?? 0), 0));
  return t("site.fan_label", { median: sum("q50"), low: sum("q10"), high: sum("q90") });
}
