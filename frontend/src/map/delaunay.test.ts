import { expect, test } from "vitest";
import { triangulate } from "./delaunay";

// No point lies inside the circle through a triangle's corners (Delaunay, 1934); Euler's formula counts them.
test("the ground is made of true Delaunay triangles", () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 16807) % 2147483647;
    return seed / 2147483647;
  };
  const points = Array.from({ length: 150 }, () => ({ x: random(), y: random() }));
  const inner = triangulate(points).filter(({ corners }) => corners.every((corner) => corner < points.length));
  for (const { corners, x, y, squaredRadius } of inner) {
    const inside = points.filter(
      (point, idx) => !corners.includes(idx) && (point.x - x) ** 2 + (point.y - y) ** 2 < squaredRadius * (1 - 1e-9),
    );
    expect(inside).toEqual([]);
  }
  // 2n - 2 - h triangles for n points, h of them on the hull; h of 150 uniform points lies well between 5 and 40.
  expect(inner.length).toBeGreaterThanOrEqual(2 * 150 - 2 - 40);
  expect(inner.length).toBeLessThanOrEqual(2 * 150 - 2 - 5);
});
