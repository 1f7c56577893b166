// An order in one line: what, how many, where to.
import type { OrderRow } from "../../api/types";
import type { cityWords } from "../../language/city_words";
import type { Say } from "../../language/language";
import type { Value } from "../../language/words";

export type NameOfSite = (siteId: string) => string;

export function orderSentence(order: OrderRow, say: Say<typeof cityWords.en>, nameOf: NameOfSite): string {
  const values: Record<string, Value> = {};
  for (const [name, value] of Object.entries(order.decision)) {
    if (typeof value === "number" || typeof value === "string") values[name] = value;
  }
  if (typeof values.role === "string") values.role = say.named("role", values.role);
  if (typeof values.stage === "string") values.stage = say.named("stage", values.stage);
  if (typeof values.to_site_id === "string") values.to = nameOf(values.to_site_id);
  return say.named("order", order.kind, values);
}
