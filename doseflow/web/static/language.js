// Words, numbers and moments in the chosen language. Moments are shown in the city's own time zone.
import { MESSAGES } from "./messages.js";
import { recall, remember } from "./remembered.js";

export const LANGUAGES = Object.keys(MESSAGES);
const LOCALES = { en: "en-GB", zh: "zh-CN" };
const listeners = new Set();
let language = startLanguage();
let timezone = "UTC";

function startLanguage() {
  const kept = recall("language");
  if (LANGUAGES.includes(kept)) return kept;
  return navigator.languages.some((each) => each.toLowerCase().startsWith("zh")) ? "zh" : "en";
}

export function currentLanguage() {
  return language;
}

export function currentTimezone() {
  return timezone;
}

export function chooseLanguage(next) {
  if (!LANGUAGES.includes(next)) return;
  language = next;
  remember("language", next);
  translatePage();
  for (const listener of listeners) listener();
}

export function onLanguage(listener) {
  listeners.add(listener);
}

export function useTimezone(name) {
  timezone = name;
}

export function t(key, values = {}) {
  const message = MESSAGES[language][key] ?? key;
  return message.replace(/\{(\w+)\}/g, (_, name) => shown(values[name]));
}

export function hasMessage(key) {
  return key in MESSAGES[language];
}

function shown(value) {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" ? number(value, Number.isInteger(value) ? 0 : 1) : String(value);
}

export function number(value, digits = 0) {
  if (value === null || value === undefined) return "–";
  return new Intl.NumberFormat(LOCALES[language], { maximumFractionDigits: digits }).format(value);
}

export function share(value) {
  return new Intl.NumberFormat(LOCALES[language], { style: "percent", maximumFractionDigits: 0 }).format(value);
}

export function clockTime(moment) {
  return format(moment, { hour: "2-digit", minute: "2-digit" });
}

export function dayAndTime(moment) {
  return format(moment, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
}

export function longDay(moment) {
  return format(moment, { weekday: "short", year: "numeric", month: "short", day: "numeric" });
}

function format(moment, options) {
  if (!moment) return "–";
  return new Intl.DateTimeFormat(LOCALES[language], { hourCycle: "h23", timeZone: timezone, ...options }).format(new Date(moment));
}

export function age(minutes) {
  if (minutes === null || minutes === undefined) return t("age.never");
  if (minutes < 1) return t("age.now");
  if (minutes < 120) return t("age.minutes", { minutes: Math.round(minutes) });
  if (minutes < 48 * 60) return t("age.hours", { hours: Math.round(minutes / 60) });
  return t("age.days", { days: Math.round(minutes / 1440) });
}

export function due(dueAt, now) {
  const minutes = Math.round((new Date(dueAt) - new Date(now)) / 60000);
  return minutes >= 0 ? t("due.in", { minutes }) : t("due.over", { minutes: -minutes });
}

export function translatePage() {
  document.documentElement.lang = LOCALES[language];
  document.title = t("page.title");
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = t(node.dataset.text);
  for (const node of document.querySelectorAll("[data-label]")) {
    node.setAttribute("aria-label", t(node.dataset.label));
    if (node.tagName === "BUTTON") node.title = t(node.dataset.label);
  }
  for (const node of document.querySelectorAll("[data-hint]")) node.placeholder = t(node.dataset.hint);
}
