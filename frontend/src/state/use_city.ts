// The city now: every site, and the moments that say how old it all is.
import { useEffect, useState } from "react";
import type { SitesAnswer } from "../api/types";
import type { Kept } from "./answers";
import { ON_CYCLE, useAnswer } from "./use_answer";

const NOW = {} as const;
const TICK_MILLISECONDS = 10_000;
const MILLISECONDS_PER_MINUTE = 60_000;

export function useCity(): Kept<SitesAnswer> {
  return useAnswer("/api/v1/sites", NOW, ON_CYCLE);
}

// The city's own clock goes on from what it told last: in a demo it is a past day, and may go fast.
export function useCityAge(): number | null {
  const { value, readAt } = useCity();
  const tick = useTick();
  if (value === null || readAt === null) return null;
  const whenRead = (Date.parse(value.now) - Date.parse(value.as_of)) / MILLISECONDS_PER_MINUTE;
  return whenRead + Math.max(0, tick - readAt) / MILLISECONDS_PER_MINUTE;
}

function useTick(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), TICK_MILLISECONDS);
    return () => window.clearInterval(timer);
  }, []);
  return now;
}
