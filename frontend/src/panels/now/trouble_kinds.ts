// Troubles by who deals with them: the floor, the store, the cold chain, the line to the site, the doctor.
import type { SiteRow } from "../../api/types";

export const TROUBLE_KINDS = ["all", "wait", "stock", "cold_chain", "stale", "safety"] as const;
export type TroubleKind = (typeof TROUBLE_KINDS)[number];

const KIND_OF_CODE: Readonly<Record<string, TroubleKind>> = {
  wait_long: "wait",
  team_incomplete: "wait",
  seats_full: "wait",
  surge: "wait",
  doses_short: "stock",
  fridge_out_of_band: "cold_chain",
  fridge_without_power: "cold_chain",
  power_cut: "cold_chain",
  fridge_failure: "cold_chain",
  never_reported: "stale",
  data_old: "stale",
  adverse_event_cluster: "safety",
  suspended: "safety",
};

export function hasTroubleOf(site: SiteRow, kind: TroubleKind): boolean {
  return kind === "all" || site.troubles.some((trouble) => KIND_OF_CODE[trouble.code] === kind);
}

export function countKinds(sites: readonly SiteRow[]): Record<TroubleKind, number> {
  const entries = TROUBLE_KINDS.map((kind) => [kind, sites.filter((site) => hasTroubleOf(site, kind)).length]);
  return Object.fromEntries(entries) as Record<TroubleKind, number>;
}
