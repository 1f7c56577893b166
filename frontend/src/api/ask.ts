// GET, typed by the OpenAPI document: the path says what must be given and what comes back.
import { OFFLINE, ProblemError, problemOf } from "./problem";
import type { Answer, Asked, GetPath } from "./types";

const PATIENCE_MILLISECONDS = 15_000;

type Values = Record<string, string | number | boolean | readonly (string | number)[] | null | undefined>;

export function addressOf<P extends GetPath>(path: P, asked?: Asked<P>): string {
  const { path: places, query } = (asked ?? {}) as { path?: Values; query?: Values };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(places?.[name])));
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).filter((each) => each != null).map((each) => [name, String(each)]),
  );
  return pairs.length ? `${filled}?${new URLSearchParams(pairs)}` : filled;
}

export async function ask<P extends GetPath>(path: P, asked?: Asked<P>): Promise<Answer<P>> {
  return (await askAddress(addressOf(path, asked))) as Answer<P>;
}

export async function askAddress(address: string): Promise<unknown> {
  const response = await fetchOrOffline(address, { signal: AbortSignal.timeout(PATIENCE_MILLISECONDS) });
  if (!response.ok) throw new ProblemError(await problemOf(response));
  return response.json();
}

export async function fetchOrOffline(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, init);
  } catch {
    throw new ProblemError(OFFLINE);
  }
}
