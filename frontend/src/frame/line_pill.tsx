// Whether the screen is live, and of when its figures are.
import { useFormat } from "../language/format";
import { useSay } from "../language/language";
import { line } from "../state/line";
import { useStore } from "../state/store";
import { useCity } from "../state/use_city";
import { frameWords } from "./frame_words";

export function LinePill() {
  const say = useSay(frameWords);
  const { clockTime } = useFormat();
  const { state, lostAt } = useStore(line);
  const asOf = useCity().value?.as_of ?? null;
  const live = asOf === null ? say("line.live") : say("line.live_as_of", { time: clockTime(asOf) });
  const words = {
    live,
    joining: say("line.joining"),
    lost: say("line.lost", { time: clockTime(lostAt) }),
    signed_out: say("line.signed_out"),
  };
  return (
    <span className="line-pill" data-line={state}>
      {words[state]}
    </span>
  );
}
