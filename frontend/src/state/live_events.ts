// One stream of events for the whole screen. It reconnects by itself, and says when it is lost.
export const EVENT_NAMES = [
  "cycle_completed",
  "cycle_failed",
  "reports_received",
  "receipt_recorded",
  "site_commanded",
  "release_step",
  "handover_given",
  "handover_confirmed",
] as const;
export type EventName = (typeof EVENT_NAMES)[number];

const ADDRESS = "/api/v1/events";
const FIRST_RETRY_MILLISECONDS = 1000;
const LAST_RETRY_MILLISECONDS = 15_000;

export interface EventListener {
  onEvent(name: EventName): void;
  onConnected(): void;
  onLost(): void;
}

// Returns what ends it.
export function followEvents(listener: EventListener): () => void {
  let retryMilliseconds = FIRST_RETRY_MILLISECONDS;
  let source: EventSource;
  let timer = 0;

  function open(): void {
    source = new EventSource(ADDRESS);
    source.addEventListener("connected", () => {
      retryMilliseconds = FIRST_RETRY_MILLISECONDS;
      listener.onConnected();
    });
    for (const name of EVENT_NAMES) source.addEventListener(name, () => listener.onEvent(name));
    source.addEventListener("error", lose);
  }

  function lose(): void {
    listener.onLost();
    // Left alone, a browser gives up for good once the service answered anything but a stream.
    source.close();
    timer = window.setTimeout(open, retryMilliseconds);
    retryMilliseconds = Math.min(LAST_RETRY_MILLISECONDS, 2 * retryMilliseconds);
  }

  open();
  return () => {
    window.clearTimeout(timer);
    source.close();
  };
}
