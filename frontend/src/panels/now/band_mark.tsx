// A band as a small drawing of the same shape as on the map, with its name.
import { cityWords } from "../../language/city_words";
import { useSay } from "../../language/language";
import type { Band } from "../../map/bands";

const SHAPES: Readonly<Record<Band, string>> = {
  crowded: "M2 2h8v8h-8z",
  busy: "M6 1l5 5-5 5-5-5z",
  clear: "M6 2a4 4 0 1 0 .01 0z",
  unknown: "M6 2a4 4 0 1 0 .01 0z",
  closed: "M6 3a3 3 0 1 0 .01 0z",
};

export function BandMark({ band }: { readonly band: Band }) {
  const say = useSay(cityWords);
  return (
    <svg
      className={`band-mark ${band}`}
      viewBox="0 0 12 12"
      width="12"
      height="12"
      role="img"
      aria-label={say(`band.${band}`)}
    >
      <path d={SHAPES[band]} />
    </svg>
  );
}
