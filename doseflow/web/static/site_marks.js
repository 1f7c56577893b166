// The marks of sites: colour and shape both tell the band, so that neither is needed alone. All marks of a band are one path.
import { waitingPeople } from "./bands.js";

export function markRadius(site, numSites, view) {
  const room = Math.sqrt((view.width * view.height) / Math.max(1, numSites));
  const base = Math.min(4.6, Math.max(1.8, room * 0.09));
  const crowd = Math.min(1, Math.sqrt((waitingPeople(site) ?? 0) / 150));
  return base * (1 + 0.9 * crowd) * Math.min(2, view.zoom ** 0.3);
}

export function drawMarks(ctx, band, marks, colours) {
  const isHollow = band === "closed" || band === "unknown";
  ctx.beginPath();
  for (const { x, y, radius } of marks) addShape(ctx, band, x, y, radius);
  ctx.fillStyle = band === "closed" ? colours.land : band === "unknown" ? hatching(ctx, colours) : colours[band];
  ctx.fill();
  ctx.lineWidth = isHollow ? 1.4 : 1;
  ctx.strokeStyle = isHollow ? colours[band] : colours.markEdge;
  ctx.stroke();
}

function addShape(ctx, band, x, y, radius) {
  if (band === "crowded") ctx.rect(x - 0.95 * radius, y - 0.95 * radius, 1.9 * radius, 1.9 * radius);
  else if (band === "busy") diamond(ctx, x, y, 1.2 * radius);
  else circle(ctx, x, y, band === "closed" ? 0.75 * radius : radius);
}

function circle(ctx, x, y, radius) {
  ctx.moveTo(x + radius, y);
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
}

function diamond(ctx, x, y, half) {
  ctx.moveTo(x, y - half);
  ctx.lineTo(x + half, y);
  ctx.lineTo(x, y + half);
  ctx.lineTo(x - half, y);
  ctx.closePath();
}

let pattern = null;
let patternColours = null;

function hatching(ctx, colours) {
  if (pattern && patternColours === colours) return pattern;
  const tile = document.createElement("canvas");
  tile.width = 4;
  tile.height = 4;
  const brush = tile.getContext("2d");
  brush.fillStyle = colours.land;
  brush.fillRect(0, 0, 4, 4);
  brush.strokeStyle = colours.unknown;
  brush.lineWidth = 1.2;
  brush.beginPath();
  for (const shift of [-4, 0, 4]) {
    brush.moveTo(shift - 1, 5);
    brush.lineTo(shift + 5, -1);
  }
  brush.stroke();
  patternColours = colours;
  pattern = ctx.createPattern(tile, "repeat");
  return pattern;
}
