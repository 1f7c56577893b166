// The ground under the sites, made from the sites alone: no tiles, no outlines from elsewhere. The land is where sites are near;
// the lines are where the nearest site belongs to another district.
import { sideKey, sides, triangulate } from "./delaunay.js";

const NEIGHBOURS = 3;
const MOST_REACH = 0.07;

export function makeLand(places) {
  return { ground: groundPath(places), borders: borderPath(places), districts: districtCentres(places) };
}

function groundPath(places) {
  const reaches = reachOfEach(places);
  const sorted = [...reaches].sort((a, b) => a - b);
  const low = sorted[Math.floor(0.5 * (sorted.length - 1))];
  const high = Math.min(sorted[Math.floor(0.95 * (sorted.length - 1))], MOST_REACH * extent(places));
  const path = new Path2D();
  places.forEach((place, idx) => {
    const radius = 0.95 * Math.min(high, Math.max(low, reaches[idx]));
    path.moveTo(place.x + radius, place.y);
    path.arc(place.x, place.y, radius, 0, 2 * Math.PI);
  });
  return path;
}

function extent(places) {
  const xs = places.map((place) => place.x);
  const ys = places.map((place) => place.y);
  return Math.max(0.02, Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys));
}

// Distance of each place to its third nearest neighbour.
function reachOfEach(places) {
  if (places.length < 2) return places.map(() => 0.2);
  return places.map((place) => {
    const nearest = [];
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

function borderPath(places) {
  const path = new Path2D();
  if (places.length < 3) return path;
  const centreOfSide = new Map();
  // Two sites under one roof would leave no triangle between them.
  const points = places.map(({ x, y }, idx) => ({ x: x + 1e-7 * (idx % 89), y: y + 1e-7 * (idx % 97) }));
  for (const triangle of triangulate(points)) {
    for (const [a, b] of sides(triangle.corners)) {
      if (places[a]?.district === places[b]?.district) continue;
      const key = sideKey(a, b);
      const other = centreOfSide.get(key);
      if (!other) {
        centreOfSide.set(key, triangle);
      } else if (places[a] && places[b]) {
        path.moveTo(other.x, other.y);
        path.lineTo(triangle.x, triangle.y);
      }
    }
  }
  return path;
}

function districtCentres(places) {
  const sums = new Map();
  for (const { x, y, district } of places) {
    const sum = sums.get(district) ?? { x: 0, y: 0, count: 0 };
    sums.set(district, { x: sum.x + x, y: sum.y + y, count: sum.count + 1 });
  }
  return [...sums].map(([name, { x, y, count }]) => ({ name, x: x / count, y: y / count, count }));
}
