import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Intents } from "./intents";

interface Sent {
  readonly path: string;
  readonly key: string;
}

let sent: Sent[] = [];
let answer: () => Promise<Response>;

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  sent = [];
  answer = async () => new Response("{}", { status: 200 });
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
    sent.push({ path, key: JSON.parse(String(init.body)).client_key ?? "" });
    return answer();
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function refusing(status: number): () => Promise<Response> {
  const problem = { type: "urn:doseflow:problem:refused-receipt", title: "refused", status, detail: "why" };
  return async () => new Response(JSON.stringify(problem), { status });
}

async function passed(milliseconds = 100): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
}

test("a decision that is taken leaves the shelf", async () => {
  const intents = new Intents();
  intents.decide("/orders/1", {}, "send two");
  await passed();
  expect(sent).toHaveLength(1);
  expect(new Intents().waiting.get()).toEqual([]);
});

test("a decision without a line survives a reload and goes out with the same key", async () => {
  answer = async () => Promise.reject(new TypeError("no line"));
  const made = new Intents().decide("/orders/1", { quantity: 2 }, "send two");
  await passed();
  const afterReload = new Intents();
  expect(afterReload.waiting.get()).toEqual([made]);
  answer = async () => new Response("{}", { status: 200 });
  await afterReload.send();
  expect(new Set(sent.map((each) => each.key))).toEqual(new Set([made.key]));
  expect(afterReload.waiting.get()).toEqual([]);
});

test.each([401, 429, 500, 503])("a passing refusal %i keeps the decision and is tried again", async (status) => {
  answer = refusing(status);
  const intents = new Intents();
  intents.decide("/orders/1", {}, "send two");
  await passed();
  expect(intents.waiting.get()[0]?.refusal).toBeNull();
  answer = async () => new Response("{}", { status: 200 });
  await passed(6000);
  expect(sent).toHaveLength(2);
  expect(intents.waiting.get()).toEqual([]);
});

test("a lasting refusal is shown until it is read, is never sent again, and holds nobody up", async () => {
  answer = refusing(409);
  const intents = new Intents();
  const refused = intents.decide("/orders/1", {}, "send two");
  await passed();
  answer = async () => new Response("{}", { status: 200 });
  intents.decide("/orders/2", {}, "send three");
  await passed(20_000);
  expect(sent.map((each) => each.path)).toEqual(["/orders/1", "/orders/2"]);
  expect(intents.waiting.get().map((each) => [each.key, each.refusal?.status])).toEqual([[refused.key, 409]]);
  intents.dismiss(refused.key);
  expect(new Intents().waiting.get()).toEqual([]);
});

test("decisions go out in the order in which they were made", async () => {
  answer = async () => Promise.reject(new TypeError("no line"));
  const intents = new Intents();
  for (const number of [1, 2, 3]) {
    intents.decide(`/orders/${number}`, {}, "");
    await passed();
  }
  sent = [];
  answer = async () => new Response("{}", { status: 200 });
  await intents.send();
  expect(sent.map((each) => each.path)).toEqual(["/orders/1", "/orders/2", "/orders/3"]);
});
