import { expect, test } from "vitest";
import { chartWords } from "../charts/chart_words";
import { frameWords } from "../frame/frame_words";
import { nowWords } from "../panels/now/now_words";
import { shiftWords } from "../panels/shift/shift_words";
import { siteWords } from "../panels/site/site_words";
import { whatIfWords } from "../panels/what_if/what_if_words";
import { cityWords } from "./city_words";
import { formatIn } from "./format";
import { sayIn } from "./language";
import { inTwoLanguages } from "./words";

const CATALOGUES = { frameWords, nowWords, siteWords, cityWords, chartWords, whatIfWords, shiftWords };
// Shown to those who read the other language.
const MEANT_FOR_THE_OTHER = new Set(["frame.language", "frame.language_short"]);

function texts(entry: unknown): string {
  return typeof entry === "string" ? entry : Object.values(entry as object).join(" ");
}

function slots(entry: unknown): string[] {
  return [...new Set(texts(entry).match(/\{\w+\}/g) ?? [])].sort();
}

test.each(Object.entries(CATALOGUES))("%s says the same figures in both languages", (_, { en, zh }) => {
  expect(Object.keys(zh)).toEqual(Object.keys(en));
  for (const key of Object.keys(en)) {
    expect([key, slots(zh[key as never])]).toEqual([key, slots(en[key as never])]);
  }
});

test.each(Object.entries(CATALOGUES))("%s leaves nothing in English", (_, { zh }) => {
  for (const [key, entry] of Object.entries(zh)) {
    const bare = texts(entry).replace(/\{\w+\}|doseflow/g, "");
    if (!MEANT_FOR_THE_OTHER.has(key)) expect([key, /[A-Za-z]{3,}/.test(bare)]).toEqual([key, false]);
  }
});

test("a plural follows the count, and a number its language", () => {
  const words = inTwoLanguages(
    { sites: { one: "{count} site", other: "{count} sites" } },
    { sites: { other: "{count} 个接种点" } },
  );
  const english = sayIn(words, "en");
  expect([english("sites", { count: 1 }), english("sites", { count: 2000 })]).toEqual(["1 site", "2,000 sites"]);
  expect(sayIn(words, "zh")("sites", { count: 1 })).toBe("1 个接种点");
});

test("unknown is a dash and never nought", () => {
  const words = inTwoLanguages({ wait: "{minutes} min" }, { wait: "{minutes} 分钟" });
  expect(sayIn(words, "en")("wait", { minutes: null })).toBe("– min");
  expect(formatIn("zh", "UTC").minutes(null)).toBe("–");
});

test("moments are told in the city's zone whatever the browser's is", () => {
  expect(formatIn("en", "Asia/Shanghai").clockTime("2021-05-20T23:55:00Z")).toBe("07:55");
  expect(formatIn("zh", "Europe/Prague").clockTime("2021-05-20T22:10:00Z")).toBe("00:10");
});

test("an age takes the largest unit that still says something", () => {
  const { ago } = formatIn("en", "UTC");
  expect([ago(0.2), ago(119), ago(300), ago(4000)]).toEqual(["this minute", "119 min ago", "5 hr ago", "3 days ago"]);
});

test("a word the service has and the screen has not is shown as it came", () => {
  expect(sayIn(cityWords, "zh").named("trouble", "brand_new")).toBe("brand_new");
});
