// The marks of sites: colour and shape both tell the band, so that neither is needed alone. All marks of a band are one path.
import type { SiteRow } from "../api/types";
import type { Colours } from "../theme/colours";
import { type Band, waitingPeople } from "./bands";
import type { MapView } from "./map_view";
import type { Point } from "./places";

const CROWD_PEOPLE = 150;
// Edges set apart marks that touch; so many small ones cost more time than they help.
const MOST_EDGED = 600;

export interface Mark extends Point {
  readonly site: SiteRow;
  readonly radius: number;
}

// The radius of each site's mark: by how many wait there, and how much room a mark has.
export function markRadii(numSites: number, view: MapView): (site: SiteRow) => number {
  const room = Math.sqrt((view.width * view.height) / Math.max(1, numSites));
  const least = Math.min(4.6, Math.max(1.8, room * 0.09)) * Math.min(2, view.zoom ** 0.3);
  return (site) => least * (1 + 0.9 * Math.min(1, Math.sqrt((waitingPeople(site) ?? 0) / CROWD_PEOPLE)));
}

export function drawMarks(ctx: CanvasRenderingContext2D, band: Band, marks: readonly Mark[], colours: Colours): void {
  const isHollow = band === "closed" || band === "unknown";
  ctx.beginPath();
  for (const mark of marks) addShape(ctx, band, mark);
  ctx.fillStyle = isHollow ? colours.land : colours[band];
  ctx.fill();
  if (!isHollow && marks.length > MOST_EDGED) return;
  ctx.setLineDash(band === "unknown" ? [2, 2] : []);
  ctx.lineWidth = isHollow ? 1.6 : 1;
  ctx.strokeStyle = isHollow ? colours[band] : colours["mark-edge"];
  ctx.stroke();
  ctx.setLineDash([]);
}

export function drawRing(ctx: CanvasRenderingContext2D, { x, y, radius }: Mark, colour: string, width: number): void {
  ctx.beginPath();
  ctx.arc(x, y, radius + 4, 0, 2 * Math.PI);
  ctx.lineWidth = width;
  ctx.strokeStyle = colour;
  ctx.stroke();
}

function addShape(ctx: CanvasRenderingContext2D, band: Band, { x, y, radius }: Mark): void {
  if (band === "crowded") ctx.rect(x - 0.95 * radius, y - 0.95 * radius, 1.9 * radius, 1.9 * radius);
  else if (band === "busy") diamond(ctx, x, y, 1.2 * radius);
  else circle(ctx, x, y, band === "closed" ? 0.75 * radius : radius);
}

function circle(ctx: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  ctx.moveTo(x + radius, y);
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
}

function diamond(ctx: CanvasRenderingContext2D, x: number, y: number, half: number): void {
  ctx.moveTo(x, y - half);
  ctx.lineTo(x + half, y);
  ctx.lineTo(x, y + half);
  ctx.lineTo(x - half, y);
  ctx.closePath();
}
