// The current plan's orders: what, where, why, how far it got, and when it is due.
import { element, setText } from "./element.js";
import { fillKeyed } from "./keyed_list.js";
import { clockTime, due, number, t } from "./language.js";
import { orderFacts, orderHeadline, orderReason } from "./order_words.js";

const MOST_ROWS = 200;
export const FAMILIES = ["staff", "stations", "doses", "cold_chain", "arrivals"];

export class OrderList {
  constructor({ list, count, note, filters, ended }, model) {
    Object.assign(this, { list, count, note, filters, ended, model });
    this.family = null;
    this.fillFilters();
    ended.addEventListener("change", () => model.showEnded(ended.checked));
  }

  fillFilters() {
    const chips = [null, ...FAMILIES].map((family) =>
      element("button", { type: "button", class: "chip", "data-family": family ?? "all", onclick: () => this.choose(family) }),
    );
    this.filters.replaceChildren(...chips);
  }

  choose(family) {
    this.family = family;
    this.show();
  }

  show() {
    const { orders, endedOrders } = this.model;
    const all = this.ended.checked ? endedOrders : orders;
    this.showFilters(all);
    const chosen = all.filter((order) => this.family === null || order.family === this.family);
    const rows = chosen.slice(0, MOST_ROWS);
    setText(this.count, number(chosen.length));
    fillKeyed(this.list, rows, (order) => order.order_id, () => this.makeRow(), (row, order) => this.fillRow(row, order));
    this.note.hidden = rows.length === chosen.length && rows.length > 0;
    setText(this.note, rows.length ? t("orders.more", { more: chosen.length - rows.length }) : t(this.emptyKey()));
  }

  emptyKey() {
    if (this.ended.checked) return "orders.none_ended";
    return this.model.cycle ? "orders.none" : "orders.waiting";
  }

  showFilters(all) {
    for (const chip of this.filters.children) {
      const family = chip.dataset.family === "all" ? null : chip.dataset.family;
      const count = family === null ? all.length : all.filter((order) => order.family === family).length;
      setText(chip, `${t(`family.${chip.dataset.family}`)} ${number(count)}`);
      chip.setAttribute("aria-pressed", String(family === this.family));
      chip.classList.toggle("empty", count === 0);
    }
  }

  makeRow() {
    const parts = {
      family: element("span", { class: "order-family" }),
      headline: element("span", { class: "order-headline" }),
      site: element("span", { class: "order-site" }),
      reason: element("p", { class: "order-reason" }),
      state: element("span", { class: "state" }),
      due: element("span", { class: "order-due" }),
    };
    const button = element(
      "button",
      { type: "button", class: "row-button order-button" },
      element("span", { class: "order-top" }, parts.family, parts.state, parts.due),
      parts.headline,
      parts.site,
    );
    const row = element("li", { class: "row order" }, button, parts.reason);
    button.addEventListener("click", () => this.model.choose(row.siteId));
    row.parts = parts;
    return row;
  }

  fillRow(row, order) {
    fillOrderRow(row, order, this.model);
    row.siteId = order.site_id;
  }
}

export function fillOrderRow(row, order, model) {
  const { parts } = row;
  const nameOf = (siteId) => model.siteById.get(siteId)?.name ?? siteId;
  row.dataset.order = order.order_id;
  parts.family.dataset.family = order.family;
  setText(parts.family, t(`family.${order.family}`));
  setText(parts.headline, orderHeadline(order, nameOf));
  parts.headline.title = orderFacts(order);
  if (parts.site) setText(parts.site, nameOf(order.site_id));
  const refusal = order.refusal_reason ? ` ${t("order.refused_because", { reason: order.refusal_reason })}` : "";
  setText(parts.reason, orderReason(order) + refusal);
  parts.state.dataset.state = order.state;
  setText(parts.state, t(`state.${order.state}`));
  const isOver = ["done", "refused", "expired", "withdrawn"].includes(order.state);
  setText(parts.due, isOver ? clockTime(order.due_at) : due(order.due_at, model.now ?? order.created_at));
  parts.due.title = t("order.times", { created: clockTime(order.created_at), due: clockTime(order.due_at) });
  parts.due.classList.toggle("overdue", !isOver && model.now !== null && new Date(order.due_at) < new Date(model.now));
}
