// The rest of today in figures: the city and the sites that are affected, both futures beside each other.
import type { PlaceView, WhatIfAnswer } from "../../api/types";
import { Panel } from "../../frame/panel";
import { Scrolls } from "../../frame/scrolls";
import { useSay } from "../../language/language";
import { whatIfWords } from "./what_if_words";

export function FiguresPanel({ answer }: { readonly answer: WhatIfAnswer }) {
  const say = useSay(whatIfWords);
  const band = ([mean, low, high]: readonly number[]) =>
    say("band", { mean: Math.round(mean ?? 0), low: Math.round(low ?? 0), high: Math.round(high ?? 0) });
  const row = (place: PlaceView) => (
    <tr key={place.site_id ?? ""}>
      <th scope="row">{place.name}</th>
      <td>{band(place.as_is.doses)}</td>
      <td>{band(place.changed.doses)}</td>
      <td>{band(place.as_is.lost_people)}</td>
      <td>{band(place.changed.lost_people)}</td>
    </tr>
  );
  const heads = (["doses", "lost"] as const).flatMap((figure) =>
    (["as_is", "changed"] as const).map((name) => `${say(figure)}, ${say(`future.${name}`)}`),
  );
  return (
    <Panel title={say("figures")}>
      <Scrolls label={say("figures")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{say("place")}</th>
              {heads.map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{[answer.city, ...answer.sites].map(row)}</tbody>
        </table>
      </Scrolls>
    </Panel>
  );
}
