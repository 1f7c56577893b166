// What went wrong, where the answer would have stood.
import type { Problem } from "../api/problem";
import { useSay } from "../language/language";
import { frameWords } from "./frame_words";
import { problemWords } from "./problem_words";

export function ProblemNote({ problem }: { readonly problem: Problem }) {
  const say = useSay(frameWords);
  return (
    <p className="problem" role="alert">
      {problemWords(problem, say)}
    </p>
  );
}

export function Loading() {
  const say = useSay(frameWords);
  return <p className="muted loading">{say("loading")}</p>;
}
