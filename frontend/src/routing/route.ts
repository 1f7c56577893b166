// Where the person is: the address says it, so that every view can be kept and sent as a link.
import { createStore, useStore } from "../state/store";

export interface Place {
  readonly path: string;
  readonly query: string;
}

const place = createStore<Place>(here());

function here(): Place {
  return { path: location.pathname, query: location.search };
}

export function usePlace(): Place {
  return useStore(place);
}

export function navigate(to: string): void {
  if (to === location.pathname + location.search) return;
  history.pushState(null, "", to);
  place.set(here());
  window.scrollTo(0, 0);
}

export function replaceQuery(values: Readonly<Record<string, string | null>>): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(values)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  const text = query.size ? `?${query}` : "";
  history.replaceState(null, "", location.pathname + text);
  place.set(here());
}

// The parts of a path that a pattern as `/room/site/:siteId` names; null where it does not fit.
export function matched(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const wanted = pattern.split("/").filter(Boolean);
  const given = path.split("/").filter(Boolean);
  if (wanted.length !== given.length) return null;
  const found: Record<string, string> = {};
  for (const [idx, part] of wanted.entries()) {
    const value = given[idx] ?? "";
    if (part.startsWith(":")) found[part.slice(1)] = decodeURIComponent(value);
    else if (part !== value) return null;
  }
  return found;
}

window.addEventListener("popstate", () => place.set(here()));
