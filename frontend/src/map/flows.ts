// Orders between two sites as bent arrows, with a dot that goes the way of what is sent: staff, doses, walk-ins.
import type { OrderRow } from "../api/types";
import type { ColourName, Colours } from "../theme/colours";
import type { Point } from "./places";

const FAMILY_COLOUR: Readonly<Record<string, ColourName>> = {
  staff: "flow-staff",
  doses: "flow-doses",
  arrivals: "flow-arrivals",
};
export const FLOW_FAMILIES = ["staff", "doses", "arrivals"] as const;
const MOST_FLOWS = 300;
const HEAD_PIXELS = 6;
const BEND = 0.16;
const LEAST_PIXELS = 8;
const DOT_PIXELS = 2.8;

export interface Flow {
  readonly order: OrderRow;
  readonly fromId: string;
  readonly toId: string;
}

export function flowsOf(orders: readonly OrderRow[]): Flow[] {
  return orders
    .filter((order) => order.expecting_site_id !== null && order.family in FAMILY_COLOUR)
    .slice(0, MOST_FLOWS)
    .map((order) => ({ order, fromId: order.site_id, toId: order.expecting_site_id ?? "" }));
}

interface Arc {
  readonly from: Point;
  readonly bend: Point;
  readonly end: Point;
  readonly angle: number;
}

export interface FlowStyle {
  readonly colours: Colours;
  readonly emphasis: "plain" | "lit" | "dimmed";
}

const ALPHA = { plain: 0.75, lit: 1, dimmed: 0.15 } as const;

export function drawFlow(ctx: CanvasRenderingContext2D, flow: Flow, from: Point, to: Point, style: FlowStyle): void {
  const arc = arcBetween(from, to);
  if (!arc) return;
  ctx.globalAlpha = ALPHA[style.emphasis];
  ctx.strokeStyle = ctx.fillStyle = style.colours[FAMILY_COLOUR[flow.order.family] ?? "ink"];
  ctx.lineWidth = style.emphasis === "lit" ? 2.6 : 1.5;
  ctx.setLineDash(flow.order.family === "arrivals" ? [4, 3] : []);
  ctx.beginPath();
  ctx.moveTo(from.x, from.y);
  ctx.quadraticCurveTo(arc.bend.x, arc.bend.y, arc.end.x, arc.end.y);
  ctx.stroke();
  ctx.setLineDash([]);
  drawHead(ctx, arc);
  ctx.globalAlpha = 1;
}

// `progress` 0 to 1 along the way.
export function drawDot(
  ctx: CanvasRenderingContext2D,
  flow: Flow,
  from: Point,
  to: Point,
  progress: number,
  colours: Colours,
): void {
  const arc = arcBetween(from, to);
  if (!arc) return;
  const rest = 1 - progress;
  const at = (axis: "x" | "y") =>
    rest * rest * arc.from[axis] + 2 * rest * progress * arc.bend[axis] + progress * progress * arc.end[axis];
  ctx.beginPath();
  ctx.arc(at("x"), at("y"), DOT_PIXELS, 0, 2 * Math.PI);
  ctx.fillStyle = colours[FAMILY_COLOUR[flow.order.family] ?? "ink"];
  ctx.fill();
  ctx.lineWidth = 1;
  ctx.strokeStyle = colours["mark-edge"];
  ctx.stroke();
}

function arcBetween(from: Point, to: Point): Arc | null {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  if (Math.hypot(dx, dy) < LEAST_PIXELS) return null;
  const bend = { x: (from.x + to.x) / 2 - dy * BEND, y: (from.y + to.y) / 2 + dx * BEND };
  const angle = Math.atan2(to.y - bend.y, to.x - bend.x);
  return { from, bend, angle, end: { x: to.x - 6 * Math.cos(angle), y: to.y - 6 * Math.sin(angle) } };
}

function drawHead(ctx: CanvasRenderingContext2D, { end, angle }: Arc): void {
  ctx.beginPath();
  ctx.moveTo(end.x, end.y);
  for (const turn of [0.45, -0.45]) {
    ctx.lineTo(end.x - HEAD_PIXELS * Math.cos(angle + turn), end.y - HEAD_PIXELS * Math.sin(angle + turn));
  }
  ctx.closePath();
  ctx.fill();
}
