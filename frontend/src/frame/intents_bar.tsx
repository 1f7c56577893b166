// Decisions that the service has not confirmed yet, and those it refused: nothing a person decided goes unseen.
import { useSay } from "../language/language";
import { intents } from "../state/intents";
import { useStore } from "../state/store";
import { frameWords } from "./frame_words";
import { problemWords } from "./problem_words";

export function IntentsBar() {
  const say = useSay(frameWords);
  const all = useStore(intents.waiting);
  const count = all.filter((each) => each.refusal === null).length;
  return (
    <div className="intents" role="status">
      {count > 0 && <p>{say("intents.waiting", { count })}</p>}
      {all.map(
        ({ key, about, refusal }) =>
          refusal && (
            <p key={key} className="refused">
              {say("intents.refused", { about, why: problemWords(refusal, say) })}
              <button type="button" className="button" onClick={() => intents.dismiss(key)}>
                {say("intents.dismiss")}
              </button>
            </p>
          ),
      )}
    </div>
  );
}
