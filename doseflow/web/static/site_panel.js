// One site in full, beside the map.
import { GRAVE_SCORE, bandOf, isOld } from "./bands.js";
import { bandMark } from "./band_mark.js";
import { element } from "./element.js";
import { forecastFan } from "./forecast_fan.js";
import { age, clockTime, currentLanguage, dayAndTime, number, t } from "./language.js";
import { orderHeadline, orderReason } from "./order_words.js";
import { troubleSentence } from "./trouble_words.js";

const STAGES = ["registration", "screening", "vaccination", "observation"];
const ROLE_OF_STAGE = { registration: "registrar", screening: "screener", vaccination: "vaccinator", observation: "observer" };
const ENDED = new Set(["done", "refused", "expired", "withdrawn"]);
const SOON_DAYS = 7;

export class SitePanel {
  constructor(panel, model) {
    this.panel = panel;
    this.model = model;
    this.body = panel.querySelector("[data-site-body]");
    this.title = panel.querySelector("[data-site-title]");
    panel.querySelector("[data-close]").addEventListener("click", () => model.choose(null));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !document.querySelector("dialog[open]")) model.choose(null);
    });
  }

  show() {
    const { chosenSiteId, detail, city } = this.model;
    const wasHidden = this.panel.hidden;
    this.panel.hidden = chosenSiteId === null;
    if (chosenSiteId === null) {
      if (!wasHidden) this.cameFrom?.focus?.();
      return;
    }
    if (wasHidden) {
      this.cameFrom = document.activeElement;
      this.panel.focus({ preventScroll: true });
    }
    const site = detail?.site ?? this.model.siteById.get(chosenSiteId);
    if (!site) return;
    this.title.textContent = site.name;
    const scroll = this.body.scrollTop;
    this.body.replaceChildren(...this.head(site, city), ...(detail ? this.sections(detail) : [element("p", { class: "muted", text: t("loading") })]));
    this.body.scrollTop = scroll;
  }

  head(site, city) {
    const band = bandOf(site, city);
    const wait = site.wait_minutes === null ? t("wait.unknown") : t("wait.minutes", { minutes: Math.round(site.wait_minutes) });
    return [
      element(
        "p",
        { class: `site-line ${isOld(site, city) ? "old" : ""}` },
        bandMark(band),
        element("strong", { text: `${t(`band.${band}`)} · ${wait}` }),
        element("span", { class: "row-age", text: age(site.age_minutes) }),
      ),
      element("p", { class: "muted", text: [site.district, ...flags(site)].join(" · ") }),
      element("ul", { class: "sentences troubles" }, ...site.troubles.map((each) => element("li", { text: troubleSentence(each), class: each.score >= GRAVE_SCORE ? "grave" : "" }))),
    ];
  }

  sections(detail) {
    return [
      ...anomalies(detail),
      section("site.queue", stageTable(detail)),
      section("site.forecast", forecastFan(detail.forecast) ?? nothing(), note(detail)),
      section("site.stock", lotTable(detail)),
      section("site.fridges", fridgeTable(detail)),
      section("site.staff", staffTable(detail)),
      section("site.orders", this.orders(detail)),
      section("site.sources", this.sources(detail)),
    ];
  }

  sources({ classes }) {
    const reported = classes.filter((each) => each.source === "reported").length;
    return element(
      "details",
      { open: this.showsSources, ontoggle: (event) => (this.showsSources = event.target.open) },
      element("summary", { text: t("site.sources_count", { reported, all: classes.length }) }),
      table(
        ["site.class", "site.source", "site.valid_at"],
        classes.map((each) => [
          t(`class.${each.feature_class}`),
          { text: t(`source.${each.source}`), cls: each.source === "reported" ? "" : "old" },
          clockTime(each.valid_at),
        ]),
      ),
    );
  }

  orders(detail) {
    const open = detail.orders.filter((order) => !ENDED.has(order.state));
    const incoming = this.model.orders.filter((order) => order.expecting_site_id === detail.site.site_id);
    const shown = [...open, ...incoming];
    if (!shown.length) return nothing("site.no_orders");
    const nameOf = (siteId) => this.model.siteById.get(siteId)?.name ?? siteId;
    return element(
      "ul",
      { class: "sentences" },
      ...shown.map((order) =>
        element(
          "li",
          {},
          element("strong", { text: `${order.site_id === detail.site.site_id ? "" : `${nameOf(order.site_id)}: `}${orderHeadline(order, nameOf)}` }),
          element("span", { class: "state", "data-state": order.state, text: t(`state.${order.state}`) }),
          element("span", { class: "order-reason", text: orderReason(order) }),
        ),
      ),
    );
  }
}

function flags(site) {
  return [site.is_open ? t("site.open") : t("band.closed"), site.is_frozen ? t("site.frozen") : null, site.is_suspended ? t("site.suspended") : null].filter(Boolean);
}

function section(titleKey, ...content) {
  return element("section", { class: "site-section" }, element("h3", { text: t(titleKey) }), ...content);
}

function anomalies({ anomalies: open }) {
  if (!open.length) return [];
  const words = `text_${currentLanguage()}`;
  const lines = open.map((one) =>
    element("li", {}, one[words], " ", element("span", { class: "muted", text: t("site.since", { time: clockTime(one.since_at) }) })),
  );
  return [section("site.anomalies", element("ul", { class: "sentences", "data-anomalies": "" }, ...lines))];
}

function nothing(key = "site.nothing_known") {
  return element("p", { class: "muted", text: t(key) });
}

function note(detail) {
  const basis = detail.site.forecast_basis;
  return basis ? element("p", { class: "muted small", text: t("site.forecast_by", { forecaster: detail.forecaster, basis: t(`basis.${basis}`) }) }) : null;
}

function table(headKeys, rows) {
  return element(
    "table",
    { class: "figures" },
    element("thead", {}, element("tr", {}, ...headKeys.map((key) => element("th", { scope: "col", text: key ? t(key) : "" })))),
    element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells.map((cell, idx) => tableCell(cell, idx))))),
  );
}

function tableCell(cell, idx) {
  const { text, cls } = typeof cell === "object" && cell !== null ? cell : { text: cell, cls: "" };
  return element(idx === 0 ? "th" : "td", { scope: idx === 0 ? "row" : null, text: String(text ?? "–"), class: cls || null });
}

function stageTable({ site }) {
  return table(
    ["site.stage", "site.people", "site.staff_on_duty", "site.stations"],
    STAGES.map((stage) => [
      t(`queue.${stage}`),
      number(site.waiting_people[stage]),
      number(site.staff_people[ROLE_OF_STAGE[stage]]),
      stage === "observation"
        ? t("site.of_seats", { taken: number(site.seats_taken), possible: number(site.seats_possible) })
        : t("site.of", { open: number(site.stations_open[stage]), possible: number(site.stations_possible[stage]) }),
    ]),
  );
}

function lotTable({ lots, now }) {
  if (!lots.length) return nothing();
  return table(
    ["site.lot", "site.doses", "site.open_vial", "site.expires"],
    lots.map((lot) => [
      `${lot.lot_number} · ${lot.product_id}`,
      number(lot.unopened_doses),
      number(lot.open_vial_doses),
      { text: lot.expires_at ? dayAndTime(lot.expires_at) : "–", cls: expiresSoon(lot, now) ? "alarming" : "" },
    ]),
  );
}

function expiresSoon(lot, now) {
  return lot.expires_at !== null && new Date(lot.expires_at) - new Date(now) < SOON_DAYS * 86400000;
}

function fridgeTable({ fridges }) {
  if (!fridges.length) return nothing();
  return table(
    ["site.fridge", "site.temperature", "site.excursion", "site.volume"],
    fridges.map((fridge) => [
      fridge.has_power === false ? { text: `${fridge.fridge_id} · ${t("site.no_power")}`, cls: "alarming" } : fridge.fridge_id,
      { text: t("site.celsius", { celsius: number(fridge.temperature_celsius, 1) }), cls: fridge.degrees_outside ? "alarming" : "" },
      t("site.minutes", { minutes: number(fridge.excursion_minutes) }),
      t("site.of_litres", { used: number(fridge.volume_used_litres, 1), possible: number(fridge.volume_possible_litres, 1) }),
    ]),
  );
}

function staffTable({ staff }) {
  if (!staff.length) return nothing();
  return table(
    ["site.role", "site.people", "site.promised", "site.until"],
    staff.map((group) => [t(`role.${group.role}`), number(group.people), number(group.reserved_people), clockTime(group.shift_ends_at)]),
  );
}
