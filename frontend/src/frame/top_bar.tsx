// The bar at the top: whose city, what time it is there, where one can go, and whether all this is live.
import { useFormat } from "../language/format";
import { useSay } from "../language/language";
import { Go } from "../routing/go";
import { PAGES, type Page } from "../routing/pages";
import { useCity } from "../state/use_city";
import { frameWords } from "./frame_words";
import { LinePill } from "./line_pill";
import { LanguageSwitch, ThemeSwitch } from "./switches";

export function TopBar({ page }: { readonly page: Page | null }) {
  const say = useSay(frameWords);
  const { longDay, clockTime } = useFormat();
  const city = useCity().value;
  return (
    <header className="top">
      <div className="brand">
        <img src="/room/icon.svg" alt="" width="26" height="26" />
        <span className="product">doseflow</span>
        <span className="city">{city?.city_name}</span>
      </div>
      <div className="clock">
        <span>{city && longDay(city.now)}</span> <strong>{city && clockTime(city.now)}</strong>
      </div>
      <div className="tools">
        <LinePill />
        <LanguageSwitch />
        <ThemeSwitch />
      </div>
      <nav aria-label={say("frame.menu")}>
        {PAGES.filter((each) => each.isInMenu).map((each) => (
          <Go key={each.pattern} to={addressOfPage(each)} aria-current={each === page ? "page" : undefined}>
            {say(each.title)}
          </Go>
        ))}
      </nav>
    </header>
  );
}

function addressOfPage({ pattern }: Page): string {
  return pattern === "/room" ? "/room/" : pattern;
}
