// Orders between two sites as bent arrows: what is sent, from where, to where.
const FAMILY_TO_COLOUR = { staff: "flowStaff", doses: "flowDoses", arrivals: "flowArrivals" };
export const FLOW_FAMILIES = Object.keys(FAMILY_TO_COLOUR);
const HEAD_PIXELS = 6;
const BEND = 0.16;

export function drawFlow(ctx, order, from, to, colours, { isLit, isDimmed }) {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const length = Math.hypot(dx, dy);
  if (length < 8) return;
  const bend = { x: (from.x + to.x) / 2 - dy * BEND, y: (from.y + to.y) / 2 + dx * BEND };
  const angle = Math.atan2(to.y - bend.y, to.x - bend.x);
  const end = { x: to.x - 6 * Math.cos(angle), y: to.y - 6 * Math.sin(angle) };
  ctx.globalAlpha = isLit ? 1 : isDimmed ? 0.15 : 0.75;
  ctx.strokeStyle = ctx.fillStyle = colours[FAMILY_TO_COLOUR[order.family]];
  ctx.lineWidth = isLit ? 2.6 : 1.5;
  ctx.setLineDash(order.family === "arrivals" ? [4, 3] : []);
  ctx.beginPath();
  ctx.moveTo(from.x, from.y);
  ctx.quadraticCurveTo(bend.x, bend.y, end.x, end.y);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.beginPath();
  ctx.moveTo(end.x, end.y);
  for (const turn of [0.45, -0.45]) {
    ctx.lineTo(end.x - HEAD_PIXELS * Math.cos(angle + turn), end.y - HEAD_PIXELS * Math.sin(angle + turn));
  }
  ctx.closePath();
  ctx.fill();
  ctx.globalAlpha = 1;
}
