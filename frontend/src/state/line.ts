// Whether the line to the service stands, and since when it does not.
import { createStore } from "./store";

export type LineState = "joining" | "live" | "lost" | "signed_out";

export interface Line {
  readonly state: LineState;
  readonly lostAt: number | null;
  readonly cycleFailed: boolean;
}

export const line = createStore<Line>({ state: "joining", lostAt: null, cycleFailed: false });

export function lineStands(): void {
  line.set({ ...line.get(), state: "live", lostAt: null });
}

export function lineIsLost(): void {
  const before = line.get();
  if (before.state !== "signed_out") line.set({ ...before, state: "lost", lostAt: before.lostAt ?? Date.now() });
}

export function signedOut(): void {
  const before = line.get();
  line.set({ ...before, state: "signed_out", lostAt: before.lostAt ?? Date.now() });
}

export function cycleEnded(failed: boolean): void {
  line.set({ ...line.get(), cycleFailed: failed });
}
