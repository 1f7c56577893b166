// A trouble in words: the sentence belongs to its code, the figures to its facts.
import { t } from "./language.js";

export function troubleSentence(trouble) {
  const facts = Object.entries(trouble.facts).map(([name, value]) => [name, name.endsWith("_celsius") ? value : Math.round(value)]);
  return t(`trouble.${trouble.code}`, Object.fromEntries(facts));
}
