// Asks for a simulation and counts the seconds; nothing is changed by it, so nothing is kept for later.
import { useEffect, useState } from "react";
import { fetchOrOffline } from "../../api/ask";
import { type Problem, ProblemError, problemOf } from "../../api/problem";
import type { AskedChange, WhatIfAnswer } from "../../api/types";

export interface Asking {
  readonly answer: WhatIfAnswer | null;
  readonly problem: Problem | null;
  // Null while nothing is being simulated.
  readonly seconds: number | null;
  run(change: Partial<AskedChange>): void;
}

export function useWhatIf(): Asking {
  const [answer, setAnswer] = useState<WhatIfAnswer | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [seconds, setSeconds] = useState<number | null>(null);
  const isRunning = seconds !== null;
  useEffect(() => {
    if (!isRunning) return;
    const timer = window.setInterval(() => setSeconds((spent) => (spent === null ? null : spent + 1)), 1000);
    return () => window.clearInterval(timer);
  }, [isRunning]);
  const run = async (change: Partial<AskedChange>) => {
    setSeconds(0);
    setProblem(null);
    try {
      setAnswer(await simulated(change));
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      setProblem(error.problem);
    } finally {
      setSeconds(null);
    }
  };
  return { answer, problem, seconds, run: (change) => void run(change) };
}

async function simulated(change: Partial<AskedChange>): Promise<WhatIfAnswer> {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ changes: [change] });
  const response = await fetchOrOffline("/api/v1/what-if", { method: "POST", headers, body });
  if (!response.ok) throw new ProblemError(await problemOf(response));
  return (await response.json()) as WhatIfAnswer;
}
