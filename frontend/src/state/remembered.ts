// What a person chose, kept in this browser; a browser that keeps nothing is no error.
const PREFIX = "doseflow.";

export function recall(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name) ?? "null");
  } catch {
    return null;
  }
}

export function remember(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // A full or forbidden store: the choice holds until the page closes.
  }
}
