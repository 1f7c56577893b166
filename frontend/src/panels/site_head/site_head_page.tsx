import { frameWords } from "../../frame/frame_words";
import { useSay } from "../../language/language";

export function SiteHeadPage() {
  const say = useSay(frameWords);
  return (
    <main>
      <h1>{say("page.site")}</h1>
      <p>{say("page.coming")}</p>
    </main>
  );
}
