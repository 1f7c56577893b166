// The ground under the sites, made from the sites alone: no tiles, no outlines from elsewhere. The land is where sites
// are near; the lines are where the nearest site belongs to another district.
import { ends, sideKey, sides, type Triangle, triangulate } from "./delaunay";
import type { Place, Point } from "./places";

const NEIGHBOURS = 3;
const MOST_REACH = 0.07;

export interface District extends Point {
  readonly name: string;
  readonly count: number;
}

export interface Land {
  readonly ground: Path2D;
  readonly borders: Path2D;
  readonly districts: readonly District[];
}

export function makeLand(places: readonly Place[]): Land {
  return { ground: groundPath(places), borders: borderPath(places), districts: districtCentres(places) };
}

function groundPath(places: readonly Place[]): Path2D {
  const reaches = reachOfEach(places);
  const sorted = [...reaches].sort((a, b) => a - b);
  const quantile = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  const high = Math.min(quantile(0.95), MOST_REACH * extent(places));
  const path = new Path2D();
  for (const [idx, place] of places.entries()) {
    const radius = 0.95 * Math.min(high, Math.max(quantile(0.5), reaches[idx] ?? 0));
    path.moveTo(place.x + radius, place.y);
    path.arc(place.x, place.y, radius, 0, 2 * Math.PI);
  }
  return path;
}

function extent(places: readonly Place[]): number {
  const [left, right] = ends(places.map((place) => place.x));
  const [top, bottom] = ends(places.map((place) => place.y));
  return Math.max(0.02, right - left, bottom - top);
}

// Distance of each place to its third nearest neighbour.
function reachOfEach(places: readonly Place[]): number[] {
  if (places.length < 2) return places.map(() => 0.2);
  return places.map((place) => {
    const nearest: number[] = [];
    for (const other of places) {
      if (other === place) continue;
      nearest.push((other.x - place.x) ** 2 + (other.y - place.y) ** 2);
      if (nearest.length > NEIGHBOURS) {
        nearest.sort((a, b) => a - b);
        nearest.pop();
      }
    }
    return Math.sqrt(Math.max(...nearest)) || 0.02;
  });
}

function borderPath(places: readonly Place[]): Path2D {
  const path = new Path2D();
  if (places.length < 3) return path;
  const triangleAtSide = new Map<string, Triangle>();
  // Two sites under one roof would leave no triangle between them.
  const points = places.map(({ x, y }, idx) => ({ x: x + 1e-7 * (idx % 89), y: y + 1e-7 * (idx % 97) }));
  for (const triangle of triangulate(points)) {
    for (const [a, b] of sides(triangle.corners)) {
      const [one, two] = [places[a], places[b]];
      if (one?.district === two?.district) continue;
      const key = sideKey(a, b);
      const other = triangleAtSide.get(key);
      if (!other) {
        triangleAtSide.set(key, triangle);
      } else if (one && two) {
        path.moveTo(other.x, other.y);
        path.lineTo(triangle.x, triangle.y);
      }
    }
  }
  return path;
}

function districtCentres(places: readonly Place[]): District[] {
  const sums = new Map<string, { x: number; y: number; count: number }>();
  for (const { x, y, district } of places) {
    const sum = sums.get(district) ?? { x: 0, y: 0, count: 0 };
    sums.set(district, { x: sum.x + x, y: sum.y + y, count: sum.count + 1 });
  }
  return [...sums].map(([name, { x, y, count }]) => ({ name, x: x / count, y: y / count, count }));
}
