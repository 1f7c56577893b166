// A problem in words: one that the screen knows in the person's language, any other as the service says it.
import { OFFLINE_STATUS, type Problem, slugOf } from "../api/problem";
import type { Say } from "../language/language";
import { frameWords } from "./frame_words";

export function problemWords(problem: Problem, say: Say<typeof frameWords.en>): string {
  if (problem.status === OFFLINE_STATUS) return say("problem.offline");
  if (problem.status === 401) return say("problem.signed_out");
  const slug = slugOf(problem);
  if (`problem.${slug}` in frameWords.en) return say.named("problem", slug, { reference: problem.reference });
  if (problem.status === 403) return say("problem.forbidden");
  return say("problem.other", { title: problem.title, detail: problem.detail });
}
