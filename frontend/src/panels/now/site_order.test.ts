import { expect, test } from "vitest";
import type { SiteRow } from "../../api/types";
import { COLUMNS, inOrder } from "./site_order";

function site(name: string, figures: Partial<SiteRow>): SiteRow {
  return {
    name,
    trouble_score: 0,
    wait_minutes: null,
    waiting_people: {},
    doses_on_hand: null,
    fridge_worst: null,
    age_minutes: null,
    ...figures,
  } as SiteRow;
}

const BAD = site("bad", {
  trouble_score: 70,
  wait_minutes: 55,
  waiting_people: { registration: 40 },
  doses_on_hand: 0,
  fridge_worst: { degrees_outside: -3 } as SiteRow["fridge_worst"],
  age_minutes: 40,
});
const GOOD = site("good", {
  wait_minutes: 0,
  waiting_people: { registration: 0 },
  doses_on_hand: 900,
  fridge_worst: { degrees_outside: 0 } as SiteRow["fridge_worst"],
  age_minutes: 0,
});
const UNKNOWN = site("unknown", {});

test.each(COLUMNS)("by %s the worse stands before the better", (column) => {
  const order = inOrder([GOOD, BAD], column);
  expect(order).toEqual([BAD, GOOD]);
});

test.each(["wait", "queue", "doses", "fridge"] as const)(
  "by %s the unknown stands last: it is not nought",
  (column) => {
    expect(inOrder([UNKNOWN, GOOD, BAD], column).at(-1)).toBe(UNKNOWN);
  },
);

test("by age a site that never reported is the oldest", () => {
  expect(inOrder([GOOD, UNKNOWN, BAD], "age")[0]).toBe(UNKNOWN);
});
