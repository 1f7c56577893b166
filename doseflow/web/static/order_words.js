// An order's headline in words, from its decision. The reason comes in words from the service.
import { currentLanguage, dayAndTime, number, t } from "./language.js";

const NOT_SHOWN = new Set(["why", "kind", "from_site_id", "to_site_id", "site_id"]);

export function orderHeadline(order, nameOf) {
  const { decision } = order;
  return t(`order.${decision.kind}`, {
    ...decision,
    role: decision.works_as ? t(`role.${decision.works_as}`) : "",
    stage: decision.stage ? t(`stage.${decision.stage}`) : "",
    to: decision.to_site_id ? nameOf(decision.to_site_id) : "",
    minutes_ahead: decision.bin_idx === undefined ? null : 15 * decision.bin_idx,
  });
}

export function orderReason(order) {
  return currentLanguage() === "zh" ? order.reason_zh : order.reason_en;
}

export function orderFacts(order) {
  return Object.entries(order.decision)
    .filter(([name]) => !NOT_SHOWN.has(name))
    .map(([name, value]) => `${name} ${typeof value === "number" ? number(value, 1) : name.endsWith("_at") ? dayAndTime(value) : value}`)
    .join(", ");
}
