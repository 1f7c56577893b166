import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ProblemError } from "../api/problem";
import { Answers } from "./answers";

const NOBODY = () => {};

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

async function passed(milliseconds = 1000): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
}

test("an address is asked for once however many follow it", async () => {
  const ask = vi.fn(async () => "known");
  const answers = new Answers(ask);
  answers.follow("/a", [], NOBODY);
  answers.follow("/a", [], NOBODY);
  await passed();
  expect(ask).toHaveBeenCalledTimes(1);
  expect(answers.get("/a").value).toBe("known");
});

test("an event renews what follows it and nothing else, and a burst of events is read once more", async () => {
  const asked: string[] = [];
  const answers = new Answers(async (address) => asked.push(address));
  answers.follow("/orders", ["receipt_recorded"], NOBODY);
  answers.follow("/sites", ["cycle_completed"], NOBODY);
  await passed();
  asked.length = 0;
  for (let count = 0; count < 20; count += 1) answers.take("receipt_recorded");
  await passed();
  expect(asked).toEqual(["/orders"]);
});

test("an event that comes while the answer is on its way is not lost", async () => {
  let answerNow = (_: string) => {};
  const ask = vi.fn(() => new Promise<string>((resolve) => (answerNow = resolve)));
  const answers = new Answers(ask);
  answers.follow("/sites", ["cycle_completed"], NOBODY);
  await passed(10);
  answers.take("cycle_completed");
  answerNow("before the cycle");
  await passed();
  expect(ask).toHaveBeenCalledTimes(2);
  answerNow("after the cycle");
  await passed();
  expect(answers.get("/sites").value).toBe("after the cycle");
});

test("what was known stays known when the next reading fails, with the problem beside it", async () => {
  const answers = new Answers(vi.fn().mockResolvedValueOnce("known").mockRejectedValue(new TypeError("no line")));
  answers.follow("/sites", ["cycle_completed"], NOBODY);
  await passed();
  answers.take("cycle_completed");
  await passed();
  expect(answers.get("/sites")).toMatchObject({ value: "known", problem: { status: 0 } });
});

test("after a gap everything that can change is asked for again, and what failed", async () => {
  const asked: string[] = [];
  const answers = new Answers(async (address) => {
    asked.push(address);
    if (address === "/failing") throw new ProblemError({ type: "", title: "", status: 503, detail: "" });
  });
  answers.follow("/failing", [], NOBODY);
  answers.follow("/past", [], NOBODY);
  answers.follow("/sites", ["cycle_completed"], NOBODY);
  await passed();
  asked.length = 0;
  answers.takeAll();
  await passed();
  expect(asked.sort()).toEqual(["/failing", "/sites"]);
});

test("what nobody follows any more is forgotten, so that a day's session grows no memory", async () => {
  const answers = new Answers(async () => "known");
  const leave = answers.follow("/sites?at=1", [], NOBODY);
  await passed();
  leave();
  expect(answers.get("/sites?at=1").value).toBe("known");
  await passed(61_000);
  expect(answers.get("/sites?at=1").value).toBeNull();
});
