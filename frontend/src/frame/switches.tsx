// Language and colours: both change on the spot, and are kept for this person.
import { chooseLanguage, useLanguage, useSay } from "../language/language";
import { useStore } from "../state/store";
import { chooseTheme, THEME_CHOICES, type ThemeChoice, themeChoice } from "../theme/theme";
import { frameWords } from "./frame_words";

export function LanguageSwitch() {
  const say = useSay(frameWords);
  const other = useLanguage() === "en" ? "zh" : "en";
  return (
    <button
      type="button"
      className="button"
      lang={other === "zh" ? "zh-CN" : "en-GB"}
      title={say("frame.language")}
      onClick={() => chooseLanguage(other)}
    >
      {say("frame.language_short")}
    </button>
  );
}

export function ThemeSwitch() {
  const say = useSay(frameWords);
  const chosen = useStore(themeChoice);
  return (
    <select
      className="button"
      aria-label={say("frame.theme")}
      value={chosen}
      onChange={(event) => chooseTheme(event.target.value as ThemeChoice)}
    >
      {THEME_CHOICES.map((choice) => (
        <option key={choice} value={choice}>
          {say(`theme.${choice}`)}
        </option>
      ))}
    </select>
  );
}
