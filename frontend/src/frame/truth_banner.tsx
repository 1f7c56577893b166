// Says what is not as it should be: no line, no sign-in, no new cycle. Nothing where all is well.
import { useFormat } from "../language/format";
import { type Say, useSay } from "../language/language";
import { type Line, line } from "../state/line";
import { useStore } from "../state/store";
import { useCity, useCityAge } from "../state/use_city";
import { frameWords } from "./frame_words";

const OLD_AFTER_MINUTES = 11;

export function TruthBanner() {
  const say = useSay(frameWords);
  const { clockTime, ago } = useFormat();
  const stands = useStore(line);
  const { value } = useCity();
  const age = useCityAge();
  const told = { asOf: clockTime(value?.as_of ?? null), age: age === null ? "" : ago(age) };
  const words = bannerWords(say, stands, { ...told, lost: clockTime(stands.lostAt) }, value !== null, age);
  return (
    <p className="banner" role="alert" hidden={words === null}>
      {words}
    </p>
  );
}

interface Told {
  readonly asOf: string;
  readonly age: string;
  readonly lost: string;
}

function bannerWords(
  say: Say<typeof frameWords.en>,
  { state, cycleFailed }: Line,
  told: Told,
  isKnown: boolean,
  age: number | null,
): string | null {
  if (state === "signed_out") return say("line.signed_out_banner");
  if (state === "lost") return isKnown ? say("line.lost_banner", { ...told }) : say("line.never");
  if (cycleFailed) return say("line.cycle_failed");
  if (age !== null && age > OLD_AFTER_MINUTES) return say("line.old_banner", { asOf: told.asOf, age: told.age });
  return null;
}
