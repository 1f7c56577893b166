// Questions to the service. Every answer is checked; a problem document becomes an error with its own sentence.
const TIMEOUT_MILLISECONDS = 10000;

export function ask(path) {
  return answered(path, { headers: { Accept: "application/json" } });
}

export function tell(path, content) {
  const headers = { Accept: "application/json", "Content-Type": "application/json" };
  return answered(path, { method: "POST", headers, body: JSON.stringify(content) });
}

async function answered(path, request) {
  const response = await fetch(path, { ...request, signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS) });
  const body = await response.json();
  if (!response.ok) throw new Error(body.detail ?? response.statusText);
  return body;
}
