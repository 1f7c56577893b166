// Moments of the day that can be looked at: every five minutes from the first cycle kept to now.
const STEP_MILLISECONDS = 5 * 60_000;

export interface Moments {
  readonly first: number;
  readonly last: number;
}

export function momentsBetween(firstCycleAt: string | null, now: string): Moments | null {
  if (firstCycleAt === null) return null;
  const first = Date.parse(firstCycleAt);
  const steps = Math.floor((Date.parse(now) - first) / STEP_MILLISECONDS);
  return steps < 1 ? null : { first, last: first + steps * STEP_MILLISECONDS };
}

// Steps of the slider; the last one is now.
export function numSteps({ first, last }: Moments): number {
  return (last - first) / STEP_MILLISECONDS;
}

export function momentAt({ first }: Moments, step: number): number {
  return first + step * STEP_MILLISECONDS;
}

export function stepAt({ first }: Moments, moment: number): number {
  return Math.round((moment - first) / STEP_MILLISECONDS);
}

// Null where the address names none.
export function momentOf(query: string): number | null {
  const at = Date.parse(new URLSearchParams(query).get("at") ?? "");
  return Number.isNaN(at) ? null : at;
}
