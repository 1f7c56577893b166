// Numbers and moments in the chosen language, moments in the city's own time zone.
import { useMemo } from "react";
import { createStore, useStore } from "../state/store";
import { useLanguage } from "./language";
import { type Language, LOCALES } from "./words";

export const timezone = createStore("UTC");
export const UNKNOWN = "–";
const FEW_MINUTES = 120;
const MINUTES_PER_DAY = 1440;

export interface Format {
  number(value: number | null | undefined, digits?: number): string;
  share(value: number): string;
  clockTime(moment: string | number | null): string;
  dayAndTime(moment: string | null): string;
  longDay(moment: string | null): string;
  minutes(value: number | null | undefined): string;
  // Time gone by, in the largest unit that still says something.
  ago(minutes: number): string;
}

export function formatIn(language: Language, timeZone: string): Format {
  const locale = LOCALES[language];
  const moment = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, { hourCycle: "h23", timeZone, ...options });
    return (value: string | number | null) => (value === null ? UNKNOWN : format.format(new Date(value)));
  };
  const number = (value: number | null | undefined, digits = 0): string =>
    value == null ? UNKNOWN : new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(value);
  const unit = (value: number, name: string): string =>
    new Intl.NumberFormat(locale, { style: "unit", unit: name, maximumFractionDigits: 0 }).format(value);
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });
  return {
    number,
    share: (value) => new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 }).format(value),
    clockTime: moment({ hour: "2-digit", minute: "2-digit" }),
    dayAndTime: moment({ month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" }),
    longDay: moment({ weekday: "short", year: "numeric", month: "short", day: "numeric" }),
    minutes: (value) => (value == null ? UNKNOWN : unit(value, "minute")),
    ago(minutes) {
      if (minutes < FEW_MINUTES) return relative.format(-Math.round(minutes), "minute");
      if (minutes < 2 * MINUTES_PER_DAY) return relative.format(-Math.round(minutes / 60), "hour");
      return relative.format(-Math.round(minutes / MINUTES_PER_DAY), "day");
    },
  };
}

export function useFormat(): Format {
  const language = useLanguage();
  const timeZone = useStore(timezone);
  return useMemo(() => formatIn(language, timeZone), [language, timeZone]);
}
