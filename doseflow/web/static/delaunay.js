// Delaunay triangulation by Bowyer and Watson (1981, doi:10.1093/comjnl/24.2.162): plain, and quick enough for a city.
const FAR = 1000;

export function triangulate(points) {
  const all = [...points, ...farTriangle(points)];
  let triangles = [circled([points.length, points.length + 1, points.length + 2], all)];
  for (let idx = 0; idx < points.length; idx += 1) {
    const kept = [];
    const edges = new Map();
    for (const triangle of triangles) {
      if (isInside(all[idx], triangle)) for (const [a, b] of sides(triangle.corners)) toggle(edges, a, b);
      else kept.push(triangle);
    }
    for (const [a, b] of edges.values()) kept.push(circled([a, b, idx], all));
    triangles = kept;
  }
  return triangles;
}

function farTriangle(points) {
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const span = FAR * Math.max(1e-6, Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys));
  const x = (Math.max(...xs) + Math.min(...xs)) / 2;
  const y = (Math.max(...ys) + Math.min(...ys)) / 2;
  return [
    { x: x - span, y: y - span },
    { x: x + span, y: y - span },
    { x, y: y + span },
  ];
}

function circled(corners, points) {
  const [a, b, c] = corners.map((corner) => points[corner]);
  const [bx, by, cx, cy] = [b.x - a.x, b.y - a.y, c.x - a.x, c.y - a.y];
  const twice = 2 * (bx * cy - by * cx) || 1e-30;
  const ux = (cy * (bx * bx + by * by) - by * (cx * cx + cy * cy)) / twice;
  const uy = (bx * (cx * cx + cy * cy) - cx * (bx * bx + by * by)) / twice;
  return { corners, x: a.x + ux, y: a.y + uy, squaredRadius: ux * ux + uy * uy };
}

function isInside(point, triangle) {
  return (point.x - triangle.x) ** 2 + (point.y - triangle.y) ** 2 < triangle.squaredRadius;
}

export function sides([a, b, c]) {
  return [
    [a, b],
    [b, c],
    [c, a],
  ];
}

export function sideKey(a, b) {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}

function toggle(edges, a, b) {
  const key = sideKey(a, b);
  if (!edges.delete(key)) edges.set(key, [a, b]);
}
