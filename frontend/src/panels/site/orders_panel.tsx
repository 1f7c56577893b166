// Orders that this site was given, the newest first, with what became of each.

import { useCallback } from "react";
import type { OrderRow, SiteDetail, SitesAnswer } from "../../api/types";
import { Panel } from "../../frame/panel";
import { Scrolls } from "../../frame/scrolls";
import { cityWords } from "../../language/city_words";
import { useFormat } from "../../language/format";
import { useLanguage, useSay } from "../../language/language";
import { type NameOfSite, orderSentence } from "./order_sentence";
import { siteWords } from "./site_words";

interface OrdersPanelProps {
  readonly detail: SiteDetail;
  readonly city: SitesAnswer | null;
}

export function OrdersPanel({ detail, city }: OrdersPanelProps) {
  const say = useSay(siteWords);
  const nameOf = useCallback<NameOfSite>(
    (siteId) => city?.sites.find((site) => site.site_id === siteId)?.name ?? siteId,
    [city],
  );
  return (
    <Panel title={say("orders.title")} className="wide">
      {detail.orders.length === 0 && <p className="muted note">{say("orders.none")}</p>}
      <Scrolls label={say("orders.title")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{say("orders.what")}</th>
              <th scope="col">{say("orders.state")}</th>
              <th scope="col">{say("orders.made")}</th>
              <th scope="col">{say("orders.due")}</th>
            </tr>
          </thead>
          <tbody>
            {detail.orders.map((order) => (
              <OrderLine key={order.order_id} order={order} nameOf={nameOf} />
            ))}
          </tbody>
        </table>
      </Scrolls>
    </Panel>
  );
}

function OrderLine({ order, nameOf }: { readonly order: OrderRow; readonly nameOf: NameOfSite }) {
  const say = useSay(siteWords);
  const sayCity = useSay(cityWords);
  const language = useLanguage();
  const { clockTime } = useFormat();
  return (
    <tr>
      <th scope="row">
        {orderSentence(order, sayCity, nameOf)}
        <span className="muted reason">{language === "zh" ? order.reason_zh : order.reason_en}</span>
      </th>
      <td>
        {sayCity.named("state", order.state)}
        {order.refusal_reason && (
          <span className="muted reason">{say("orders.refused", { reason: order.refusal_reason })}</span>
        )}
      </td>
      <td>{clockTime(order.created_at)}</td>
      <td>{clockTime(order.due_at)}</td>
    </tr>
  );
}
