// Bands of the wait, in the order of worry; each has a shape besides its colour.
import type { SiteRow, SitesAnswer } from "../api/types";

export const BANDS = ["crowded", "busy", "clear", "unknown", "closed"] as const;
export type Band = (typeof BANDS)[number];

const QUEUES = ["registration", "screening", "vaccination"] as const;

// From this score on a trouble is grave: the site needs somebody now.
export const GRAVE_SCORE = 60;

export function bandOf(site: SiteRow, city: SitesAnswer): Band {
  if (!site.is_open) return "closed";
  if (site.wait_minutes === null || isOld(site, city)) return "unknown";
  if (site.wait_minutes >= city.crowded_wait_minutes) return "crowded";
  return site.wait_minutes >= city.busy_wait_minutes ? "busy" : "clear";
}

export function isOld(site: SiteRow, city: SitesAnswer): boolean {
  return site.age_minutes === null || site.age_minutes > city.old_report_minutes;
}

// Of the three queues before the dose; null where none is known.
export function waitingPeople({ waiting_people: waiting }: SiteRow): number | null {
  let sum: number | null = null;
  for (const stage of QUEUES) if (waiting[stage] != null) sum = (sum ?? 0) + waiting[stage];
  return sum;
}

export function countBands(city: SitesAnswer): Record<Band, number> {
  const counts = { crowded: 0, busy: 0, clear: 0, unknown: 0, closed: 0 };
  for (const site of city.sites) counts[bandOf(site, city)] += 1;
  return counts;
}
