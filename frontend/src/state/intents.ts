// What a person has decided and the service has not confirmed: kept in this browser until it is, sent in order, and
// sent again with the same key after a cut, a restart or a new sign-in, so that nothing is lost and nothing done twice.
import { fetchOrOffline } from "../api/ask";
import { type Problem, ProblemError, problemOf } from "../api/problem";
import { type Intent, onOtherTab, shelve, shelved, unshelve } from "./intent_shelf";
import { signedOut } from "./line";
import { createStore, type Store } from "./store";

const RETRY_MILLISECONDS = 5000;
const KEY_BYTES = 16;

export class Intents {
  readonly waiting: Store<readonly Intent[]> = createStore(shelved());
  readonly #sent = new Set<(intent: Intent) => void>();
  #isSending = false;

  constructor() {
    onOtherTab(() => this.waiting.set(shelved()));
  }

  // Kept before it is sent: from here on a reload loses nothing.
  decide(path: string, body: unknown, about: string): Intent {
    const intent: Intent = { key: newKey(), path, body, about, madeAt: Date.now(), refusal: null };
    this.#keep(intent);
    void this.send();
    return intent;
  }

  // A refused one stays on the screen until a person has read it.
  dismiss(key: string): void {
    unshelve(key);
    this.waiting.set(shelved());
  }

  onSent(listener: (intent: Intent) => void): () => void {
    this.#sent.add(listener);
    return () => this.#sent.delete(listener);
  }

  async send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      for (let next = this.#next(); next; next = this.#next()) if (!(await this.#sendOne(next))) break;
    } finally {
      this.#isSending = false;
    }
  }

  #next(): Intent | undefined {
    return this.waiting.get().find((each) => each.refusal === null);
  }

  // Whether the next one may be tried.
  async #sendOne(intent: Intent): Promise<boolean> {
    const problem = await post(intent);
    if (problem === null) {
      this.dismiss(intent.key);
      for (const listener of this.#sent) listener(intent);
      return true;
    }
    if (problem.status === 401) signedOut();
    if (isPassing(problem)) {
      window.setTimeout(() => void this.send(), RETRY_MILLISECONDS);
      return false;
    }
    this.#keep({ ...intent, refusal: problem });
    return true;
  }

  #keep(intent: Intent): void {
    shelve(intent);
    this.waiting.set(shelved());
  }
}

// Null where the service has taken it.
async function post(intent: Intent): Promise<Problem | null> {
  try {
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify(withKey(intent));
    const response = await fetchOrOffline(intent.path, { method: "POST", headers, body });
    return response.ok ? null : await problemOf(response);
  } catch (error) {
    if (error instanceof ProblemError) return error.problem;
    throw error;
  }
}

// The doors know a press by `client_key`; receipts and reports bring an identifier of their own.
function withKey({ body, key }: Intent): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  return "receipt_id" in body || "report_id" in body ? body : { client_key: key, ...body };
}

function isPassing({ status }: Problem): boolean {
  return status === 0 || status === 401 || status === 408 || status === 425 || status === 429 || status >= 500;
}

// Not randomUUID, which a browser has only on secure origins: a closed network may have none.
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export type { Intent } from "./intent_shelf";
export const intents = new Intents();
