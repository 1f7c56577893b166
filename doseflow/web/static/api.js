// Questions to the service. Every answer is checked; a problem document becomes an error with its own sentence.
const TIMEOUT_MILLISECONDS = 10000;
const NOT_SIGNED_IN = "urn:doseflow:problem:not-signed-in";

export function ask(path) {
  return answered(path, { headers: { Accept: "application/json" } });
}

export function tell(path, content) {
  const headers = { Accept: "application/json", "Content-Type": "application/json" };
  return answered(path, { method: "POST", headers, body: JSON.stringify(content) });
}

async function answered(path, request) {
  const response = await fetch(path, { ...request, signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS) });
  if (response.status === 204) return null;
  const body = await response.json();
  if (response.ok) return body;
  // A question leads to the sign-in; a change says so instead, so that what was typed stays on the screen.
  if (body.type === NOT_SIGNED_IN && request.method !== "POST") window.location.assign("/sign-in");
  throw Object.assign(new Error(body.detail ?? response.statusText), { status: response.status });
}
