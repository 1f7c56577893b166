// The figures of a shift.
import type { Summary } from "../../api/types";
import { Panel } from "../../frame/panel";
import { Scrolls } from "../../frame/scrolls";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import { shiftWords } from "./shift_words";

export function SummaryPanel({ summary }: { readonly summary: Summary }) {
  const say = useSay(shiftWords);
  const { number, minutes, dayAndTime } = useFormat();
  const orders = Object.values(summary.orders_by_state).reduce((sum, count) => sum + count, 0);
  const figures = [
    [say("mean_wait"), minutes(summary.mean_wait_minutes)],
    [say("longest_wait"), minutes(summary.longest_wait_minutes)],
    [say("over_30"), number(summary.sites_over_30_minutes)],
    [say("doses"), number(summary.doses)],
    [say("waste"), number(summary.expired_doses)],
    [say("cold_chain"), number(summary.excursion_fridges.length)],
    [say("orders"), number(orders)],
  ] as const;
  return (
    <>
      <Panel title={say("title")}>
        <table>
          <tbody>
            {figures.map(([name, value]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Panel>
      <Panel title={say("overrides")}>
        {summary.overrides.length === 0 && <p className="note">{say("nothing")}</p>}
        <ul className="note">
          {summary.overrides.map((one) => (
            <li key={`${one.at} ${one.subject}`}>
              {dayAndTime(one.at)} {one.by} {one.action} {one.subject} {one.reason}
            </li>
          ))}
        </ul>
      </Panel>
      <Panel title={say("sites")}>
        <Scrolls label={say("sites")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{say("site")}</th>
                <th scope="col">{say("longest_wait")}</th>
                <th scope="col">{say("doses")}</th>
              </tr>
            </thead>
            <tbody>
              {summary.sites.map((one) => (
                <tr key={one.site_id}>
                  <th scope="row">{one.name}</th>
                  <td>{minutes(one.longest_wait_minutes)}</td>
                  <td>{number(one.doses)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scrolls>
      </Panel>
    </>
  );
}
