// Doses in the order in which they must be used: the first to expire stands first.

import type { SiteDetail } from "../../api/types";
import { Panel } from "../../frame/panel";
import { Scrolls } from "../../frame/scrolls";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import { siteWords } from "./site_words";

export function LotsPanel({ detail }: { readonly detail: SiteDetail }) {
  const say = useSay(siteWords);
  const { number, dayAndTime } = useFormat();
  const columns = [
    "lots.lot",
    "lots.product",
    "lots.fridge",
    "lots.doses",
    "lots.open",
    "lots.promised",
    "lots.expires",
  ] as const;
  const hasExpired = (moment: string | null) => moment !== null && Date.parse(moment) <= Date.parse(detail.now);
  return (
    <Panel title={say("lots.title")}>
      {detail.lots.length === 0 && <p className="muted note">{say("nothing")}</p>}
      <Scrolls label={say("lots.title")}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {say(column)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {detail.lots.map((lot) => (
              <tr key={`${lot.fridge_id} ${lot.lot_number}`}>
                <th scope="row">{lot.lot_number}</th>
                <td>{lot.product_id}</td>
                <td>{lot.fridge_id}</td>
                <td>{number(lot.unopened_doses)}</td>
                <td>{number(lot.open_vial_doses)}</td>
                <td>{number(lot.reserved_doses)}</td>
                <td className={hasExpired(lot.expires_at) ? "alarming" : ""}>
                  {dayAndTime(lot.expires_at)} {hasExpired(lot.expires_at) && say("lots.expired")}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolls>
    </Panel>
  );
}
