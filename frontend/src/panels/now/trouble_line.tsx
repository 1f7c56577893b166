// What troubles a site, the worst first, in words.
import type { SiteRow } from "../../api/types";
import { cityWords } from "../../language/city_words";
import { useSay } from "../../language/language";
import type { Value } from "../../language/words";
import { nowWords } from "./now_words";

export function TroubleLine({ site }: { readonly site: SiteRow }) {
  const say = useSay(nowWords);
  const sayCity = useSay(cityWords);
  if (!site.troubles.length) return <span className="muted">{say("list.nothing_wrong")}</span>;
  return (
    <span className="troubles">
      {site.troubles
        .map((trouble) => sayCity.named("trouble", trouble.code, trouble.facts as Record<string, Value>))
        .join(" · ")}
    </span>
  );
}
