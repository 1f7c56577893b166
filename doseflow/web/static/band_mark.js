// The mark of a band as a small picture, for lists and for the legend.
import { svgElement } from "./element.js";

const SHAPES = {
  crowded: () => svgElement("rect", { x: 3, y: 3, width: 10, height: 10 }),
  busy: () => svgElement("path", { d: "M8 1.5 14.5 8 8 14.5 1.5 8Z" }),
  clear: () => svgElement("circle", { cx: 8, cy: 8, r: 5.5 }),
  closed: () => svgElement("circle", { cx: 8, cy: 8, r: 4.5 }),
  unknown: () => svgElement("circle", { cx: 8, cy: 8, r: 5.5 }),
};

export function bandMark(band) {
  const mark = svgElement("svg", { viewBox: "0 0 16 16", class: "mark", "aria-hidden": "true" });
  setBand(mark, band);
  return mark;
}

export function setBand(mark, band) {
  if (mark.dataset.band === band) return;
  mark.dataset.band = band;
  mark.replaceChildren(SHAPES[band]());
  if (band === "unknown") mark.append(svgElement("path", { d: "M4.5 11.5 11.5 4.5M3.5 8.5 8.5 3.5M7.5 12.5 12.5 7.5", class: "hatch" }));
}
