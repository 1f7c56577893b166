// What went wrong, as the service says it (RFC 9457) or as the line does.
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly reference?: string;
}

export const OFFLINE_STATUS = 0;
const PREFIX = "urn:doseflow:problem:";

export const OFFLINE: Problem = { type: `${PREFIX}offline`, title: "offline", status: OFFLINE_STATUS, detail: "" };

export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail || problem.title);
    this.problem = problem;
  }
}

export function slugOf(problem: Problem): string {
  return problem.type.startsWith(PREFIX) ? problem.type.slice(PREFIX.length) : "";
}

export async function problemOf(response: Response): Promise<Problem> {
  const told: unknown = await response.json().catch(() => null);
  if (isProblem(told)) return told;
  return { type: "about:blank", title: response.statusText, status: response.status, detail: "" };
}

function isProblem(told: unknown): told is Problem {
  return typeof told === "object" && told !== null && "type" in told && "title" in told && "status" in told;
}
