// Delaunay triangulation by Bowyer and Watson (1981, doi:10.1093/comjnl/24.2.162): plain, and quick enough for a city.
import type { Point } from "./places";

const FAR = 1000;

type Corners = readonly [number, number, number];

export interface Triangle extends Point {
  readonly corners: Corners;
  readonly squaredRadius: number;
}

// `x` and `y` of a triangle are the centre of the circle through its corners.
export function triangulate(points: readonly Point[]): Triangle[] {
  const all = [...points, ...farTriangle(points)];
  const first = points.length;
  let triangles = [circled([first, first + 1, first + 2], all)];
  for (const [idx, point] of points.entries()) {
    const kept: Triangle[] = [];
    const edges = new Map<string, readonly [number, number]>();
    for (const triangle of triangles) {
      if (isInside(point, triangle)) for (const side of sides(triangle.corners)) toggle(edges, side);
      else kept.push(triangle);
    }
    for (const [a, b] of edges.values()) kept.push(circled([a, b, idx], all));
    triangles = kept;
  }
  return triangles;
}

function farTriangle(points: readonly Point[]): Point[] {
  const [left, right] = ends(points.map((point) => point.x));
  const [top, bottom] = ends(points.map((point) => point.y));
  const span = FAR * Math.max(1e-6, right - left, bottom - top);
  const x = (left + right) / 2;
  const y = (top + bottom) / 2;
  return [
    { x: x - span, y: y - span },
    { x: x + span, y: y - span },
    { x, y: y + span },
  ];
}

export function ends(values: readonly number[]): [number, number] {
  return [Math.min(...values), Math.max(...values)];
}

function circled(corners: Corners, points: readonly Point[]): Triangle {
  const [a, b, c] = corners.map((corner) => points[corner]) as [Point, Point, Point];
  const [bx, by, cx, cy] = [b.x - a.x, b.y - a.y, c.x - a.x, c.y - a.y];
  const twice = 2 * (bx * cy - by * cx) || 1e-30;
  const ux = (cy * (bx * bx + by * by) - by * (cx * cx + cy * cy)) / twice;
  const uy = (bx * (cx * cx + cy * cy) - cx * (bx * bx + by * by)) / twice;
  return { corners, x: a.x + ux, y: a.y + uy, squaredRadius: ux * ux + uy * uy };
}

function isInside(point: Point, triangle: Triangle): boolean {
  return (point.x - triangle.x) ** 2 + (point.y - triangle.y) ** 2 < triangle.squaredRadius;
}

export function sides([a, b, c]: Corners): readonly (readonly [number, number])[] {
  return [
    [a, b],
    [b, c],
    [c, a],
  ];
}

export function sideKey(a: number, b: number): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}

function toggle(edges: Map<string, readonly [number, number]>, side: readonly [number, number]): void {
  const key = sideKey(...side);
  if (!edges.delete(key)) edges.set(key, side);
}
