import { expect, test } from "vitest";
import { momentAt, momentsBetween, numSteps, stepAt } from "./moments";

const FIRST = "2021-05-20T08:00:00Z";

test("a step and its moment lead to each other, and the last step is the latest moment", () => {
  const moments = momentsBetween(FIRST, "2021-05-20T09:02:00Z");
  if (!moments) throw new Error("an hour has moments");
  expect(numSteps(moments)).toBe(12);
  for (let step = 0; step <= 12; step += 1) expect(stepAt(moments, momentAt(moments, step))).toBe(step);
  expect(new Date(momentAt(moments, 12)).toISOString()).toBe("2021-05-20T09:00:00.000Z");
});

test("one cycle alone has no past to slide over", () => {
  expect(momentsBetween(FIRST, FIRST)).toBeNull();
  expect(momentsBetween(null, FIRST)).toBeNull();
});
