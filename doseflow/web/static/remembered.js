// Choices kept in this browser. Where storage is blocked they last as long as the page.
const kept = new Map();

export function recall(key) {
  try {
    return window.localStorage.getItem(`doseflow.${key}`) ?? kept.get(key) ?? null;
  } catch {
    return kept.get(key) ?? null;
  }
}

export function remember(key, value) {
  kept.set(key, value);
  try {
    window.localStorage.setItem(`doseflow.${key}`, value);
  } catch {
    // kept for this page alone
  }
}
