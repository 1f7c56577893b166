// Decisions on the browser's shelf, each under a name of its own: two tabs never overwrite each other's.
import type { Problem } from "../api/problem";

export interface Intent {
  readonly key: string;
  readonly path: string;
  readonly body: unknown;
  readonly madeAt: number;
  // What it is about, as shown to the person: a name of a site, a sentence.
  readonly about: string;
  readonly refusal: Problem | null;
}

const PREFIX = "doseflow.intent.";

export function shelved(): readonly Intent[] {
  const found: Intent[] = [];
  for (const name of shelfNames()) {
    try {
      found.push(JSON.parse(localStorage.getItem(name) ?? "") as Intent);
    } catch {
      localStorage.removeItem(name);
    }
  }
  return found.sort((a, b) => a.madeAt - b.madeAt || a.key.localeCompare(b.key));
}

export function shelve(intent: Intent): void {
  localStorage.setItem(PREFIX + intent.key, JSON.stringify(intent));
}

export function unshelve(key: string): void {
  localStorage.removeItem(PREFIX + key);
}

export function onOtherTab(listener: () => void): void {
  window.addEventListener("storage", (event) => {
    if (event.key === null || event.key.startsWith(PREFIX)) listener();
  });
}

function shelfNames(): string[] {
  return Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
}
