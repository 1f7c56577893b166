// What a panel asks of the service: the answer as it stands, what went wrong, and when it was read.
import { useCallback, useSyncExternalStore } from "react";
import { addressOf } from "../api/ask";
import type { Answer, Asked, GetPath } from "../api/types";
import { answers, type Kept } from "./answers";
import type { EventName } from "./live_events";

export const ON_CYCLE: readonly EventName[] = ["cycle_completed", "site_commanded"];
export const ON_ORDERS: readonly EventName[] = ["cycle_completed", "receipt_recorded"];
export const NEVER: readonly EventName[] = [];

// `asked` of null asks for nothing yet; `renewOn` must be the same list each time.
export function useAnswer<P extends GetPath>(
  path: P,
  asked: Asked<P> | null,
  renewOn: readonly EventName[],
): Kept<Answer<P>> {
  const address = asked === null ? null : addressOf(path, asked);
  const subscribe = useCallback(
    (listener: () => void) => answers.follow(address, renewOn, listener),
    [address, renewOn],
  );
  return useSyncExternalStore(subscribe, () => answers.get(address)) as Kept<Answer<P>>;
}
