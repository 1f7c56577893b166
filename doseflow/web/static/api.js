// Questions to the service. Every answer is checked; a problem document becomes an error with its own sentence.
const TIMEOUT_MILLISECONDS = 10000;

export async function ask(path) {
  const response = await fetch(path, {
    headers: { Accept: "application/json" },
    signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(body.detail ?? response.statusText);
  return body;
}
