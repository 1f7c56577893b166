// Light or dark: as the system has it, until a person chooses.
import { recall, remember } from "../state/remembered";
import { createStore } from "../state/store";

export type ThemeChoice = "system" | "light" | "dark";
export const THEME_CHOICES: readonly ThemeChoice[] = ["system", "light", "dark"];

const kept = recall("theme");
export const themeChoice = createStore<ThemeChoice>(kept === "light" || kept === "dark" ? kept : "system");
// Counts changes of colour, of whatever cause: drawings follow it.
export const themeTurns = createStore(0);

export function chooseTheme(next: ThemeChoice): void {
  remember("theme", next);
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  themeChoice.set(next);
  turned();
}

function turned(): void {
  themeTurns.set(themeTurns.get() + 1);
}

globalThis.matchMedia?.("(prefers-color-scheme: dark)").addEventListener("change", turned);
