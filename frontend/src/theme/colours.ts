// The colours of the page as a canvas can take them: tokens resolved for the theme that stands.
import { useMemo } from "react";
import { useStore } from "../state/store";
import { themeTurns } from "./theme";

const TOKENS = [
  "surface",
  "ink",
  "muted",
  "faint",
  "line",
  "accent",
  "accent-soft",
  "alarm",
  "sea",
  "land",
  "land-edge",
  "border-line",
  "mark-edge",
  "clear",
  "busy",
  "crowded",
  "closed",
  "unknown",
  "flow-staff",
  "flow-doses",
  "flow-arrivals",
] as const;
export type ColourName = (typeof TOKENS)[number];
export type Colours = Readonly<Record<ColourName, string>>;

export function readColours(): Colours {
  const probe = document.createElement("span");
  document.body.append(probe);
  const entries = TOKENS.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(entries) as Colours;
}

export function useColours(): Colours {
  const turns = useStore(themeTurns);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each turn of the theme gives the tokens other colours.
  return useMemo(readColours, [turns]);
}
