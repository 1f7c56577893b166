// What the service answered, by address: asked for once however many panels want it, and again when an event says so.
import { askAddress } from "../api/ask";
import { OFFLINE, type Problem, ProblemError } from "../api/problem";
import { signedOut } from "./line";
import type { EventName } from "./live_events";

const LEAST_MILLISECONDS_BETWEEN = 250;
const FORGET_MILLISECONDS = 60_000;

export interface Kept<T> {
  readonly value: T | null;
  readonly problem: Problem | null;
  readonly readAt: number | null;
}

interface Entry {
  kept: Kept<unknown>;
  renewOn: Set<EventName>;
  listeners: Set<() => void>;
  isReading: boolean;
  isStale: boolean;
  startedAt: number;
  forgetTimer: number;
}

const NOTHING: Kept<never> = { value: null, problem: null, readAt: null };

export class Answers {
  readonly #entries = new Map<string, Entry>();
  readonly #ask: (address: string) => Promise<unknown>;

  constructor(ask: (address: string) => Promise<unknown> = askAddress) {
    this.#ask = ask;
  }

  get(address: string | null): Kept<unknown> {
    return (address === null ? undefined : this.#entries.get(address)?.kept) ?? NOTHING;
  }

  // An address of null asks for nothing.
  follow(address: string | null, renewOn: readonly EventName[], listener: () => void): () => void {
    if (address === null) return () => {};
    const entry = this.#entries.get(address) ?? this.#enter(address);
    window.clearTimeout(entry.forgetTimer);
    for (const name of renewOn) entry.renewOn.add(name);
    entry.listeners.add(listener);
    if (entry.kept.readAt === null || entry.isStale) this.#renew(address, entry);
    return () => {
      entry.listeners.delete(listener);
      if (entry.listeners.size) return;
      entry.isStale = true;
      entry.forgetTimer = window.setTimeout(() => this.#entries.delete(address), FORGET_MILLISECONDS);
    };
  }

  take(name: EventName): void {
    for (const [address, entry] of this.#entries) if (entry.renewOn.has(name)) this.#renew(address, entry);
  }

  // After a gap nothing is replayed: whatever can change is asked for again, and whatever failed.
  takeAll(): void {
    for (const [address, entry] of this.#entries) {
      if (entry.renewOn.size || entry.kept.problem) this.#renew(address, entry);
    }
  }

  #enter(address: string): Entry {
    const entry: Entry = {
      kept: NOTHING,
      renewOn: new Set(),
      listeners: new Set(),
      isReading: false,
      isStale: false,
      startedAt: 0,
      forgetTimer: 0,
    };
    this.#entries.set(address, entry);
    return entry;
  }

  #renew(address: string, entry: Entry): void {
    entry.isStale = true;
    if (entry.isReading || !entry.listeners.size) return;
    entry.isReading = true;
    const wait = Math.max(0, entry.startedAt + LEAST_MILLISECONDS_BETWEEN - Date.now());
    window.setTimeout(() => void this.#read(address, entry), wait);
  }

  async #read(address: string, entry: Entry): Promise<void> {
    entry.startedAt = Date.now();
    entry.isStale = false;
    try {
      entry.kept = { value: await this.#ask(address), problem: null, readAt: Date.now() };
    } catch (error) {
      const problem = error instanceof ProblemError ? error.problem : OFFLINE;
      if (problem.status === 401) signedOut();
      entry.kept = { ...entry.kept, problem };
    }
    entry.isReading = false;
    for (const listener of entry.listeners) listener();
    if (entry.isStale) this.#renew(address, entry);
  }
}

export const answers = new Answers();
