// Staff on duty by role and end of shift; people are counted, never named.

import type { SiteDetail } from "../../api/types";
import { Panel } from "../../frame/panel";
import { Scrolls } from "../../frame/scrolls";
import { cityWords } from "../../language/city_words";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import { siteWords } from "./site_words";

export function StaffPanel({ detail }: { readonly detail: SiteDetail }) {
  const say = useSay(siteWords);
  const sayCity = useSay(cityWords);
  const { number, clockTime } = useFormat();
  return (
    <Panel title={say("staff.title")}>
      {detail.staff.length === 0 && <p className="muted note">{say("nothing")}</p>}
      <Scrolls label={say("staff.title")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{say("staff.role")}</th>
              <th scope="col">{say("staff.people")}</th>
              <th scope="col">{say("staff.promised")}</th>
              <th scope="col">{say("staff.until")}</th>
            </tr>
          </thead>
          <tbody>
            {detail.staff.map((group) => (
              <tr key={`${group.role} ${group.shift_ends_at}`}>
                <th scope="row">{sayCity.named("role", group.role)}</th>
                <td>{number(group.people)}</td>
                <td>{number(group.reserved_people)}</td>
                <td>{clockTime(group.shift_ends_at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolls>
    </Panel>
  );
}
