// Stands where a page will be.
import { frameWords } from "../../frame/frame_words";
import { useSay } from "../../language/language";

export function ComingPage({ title }: { readonly title: keyof typeof frameWords.en & `page.${string}` }) {
  const say = useSay(frameWords);
  return (
    <div className="panel coming">
      <h1>{say(title)}</h1>
      <p>{say("page.coming")}</p>
      <a href="/">{say("page.earlier")}</a>
    </div>
  );
}
