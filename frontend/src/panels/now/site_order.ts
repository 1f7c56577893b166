// In which order sites stand. Unknown stands last, whichever way the figures run.
import type { SiteRow } from "../../api/types";
import { waitingPeople } from "../../map/bands";

export const COLUMNS = ["site", "wait", "queue", "doses", "fridge", "age"] as const;
export type Column = (typeof COLUMNS)[number];

// Larger is worse.
const WORSE: Readonly<Record<Column, (site: SiteRow) => number | null>> = {
  site: (site) => site.trouble_score,
  wait: (site) => site.wait_minutes,
  queue: waitingPeople,
  doses: (site) => (site.doses_on_hand === null ? null : -site.doses_on_hand),
  fridge: (site) => (site.fridge_worst?.degrees_outside == null ? null : Math.abs(site.fridge_worst.degrees_outside)),
  age: (site) => site.age_minutes ?? Number.POSITIVE_INFINITY,
};

export function inOrder(sites: readonly SiteRow[], column: Column): SiteRow[] {
  const badness = new Map(sites.map((site) => [site, WORSE[column](site) ?? Number.NEGATIVE_INFINITY]));
  const of = (site: SiteRow) => badness.get(site) ?? 0;
  return [...sites].sort(
    (a, b) => compared(of(b), of(a)) || b.trouble_score - a.trouble_score || a.name.localeCompare(b.name),
  );
}

function compared(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

export function fits(site: SiteRow, words: string): boolean {
  const wanted = words.trim().toLowerCase();
  return !wanted || `${site.name} ${site.district} ${site.site_id}`.toLowerCase().includes(wanted);
}
