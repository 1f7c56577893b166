// The screen: each part reads the model and shows it; the model hears the service.
import { CityModel } from "./city_model.js";
import { CycleCard } from "./cycle_card.js";
import { setText } from "./element.js";
import { FiguresStrip } from "./figures_strip.js";
import { FirstWait } from "./first_wait.js";
import { chooseLanguage, clockTime, currentLanguage, longDay, onLanguage, t, translatePage, useTimezone } from "./language.js";
import { LinkState } from "./link_state.js";
import { LiveEvents } from "./live_events.js";
import { MapPanel } from "./map_panel.js";
import { ModelsDialog } from "./models_dialog.js";
import { OrderList } from "./order_list.js";
import { PlanDialog } from "./plan_dialog.js";
import { SiteList } from "./site_list.js";
import { SitePanel } from "./site_panel.js";
import { WhoCard } from "./who_card.js";

const find = (name) => document.querySelector(`[data-part="${name}"]`);

const model = new CityModel();
const planDialog = new PlanDialog(find("plan-dialog"), model);
const modelsDialog = new ModelsDialog(find("models-dialog"));
const parts = {
  link: new LinkState({ pill: find("link"), banner: find("banner") }, model),
  firstWait: new FirstWait(find("first-wait"), model),
  strip: new FiguresStrip(find("strip"), model),
  cycle: new CycleCard(find("cycle"), model, { onDetails: () => planDialog.open(), onModels: () => modelsDialog.open() }),
  map: new MapPanel(find("map"), model),
  sites: new SiteList({ list: find("site-list"), count: find("site-count"), search: find("site-search"), note: find("site-note") }, model),
  orders: new OrderList({ list: find("order-list"), count: find("order-count"), note: find("order-note"), filters: find("order-filters"), ended: find("orders-ended") }, model),
  panel: new SitePanel(find("site-panel"), model),
  who: new WhoCard(find("who")),
};

const SHOWN_BY = {
  link: ["link", "firstWait"],
  reports: ["firstWait"],
  sites: ["strip", "map", "sites", "orders", "firstWait"],
  orders: ["strip", "map", "orders"],
  cycles: ["cycle", "firstWait", "orders"],
  chosen: ["map", "sites", "panel"],
  detail: ["panel"],
};

model.addEventListener("change", ({ detail: what }) => {
  if (what === "sites") showCity();
  for (const name of SHOWN_BY[what]) parts[name].show();
});

function showCity() {
  const { city } = model;
  useTimezone(city.timezone);
  setText(find("city"), city.city_name);
  setText(find("day"), longDay(city.now));
  setText(find("time"), clockTime(city.now));
  find("time").title = city.timezone;
}

function showAll() {
  const next = currentLanguage() === "zh" ? "en" : "zh";
  setText(find("language"), t("language.other"));
  find("language").dataset.next = next;
  if (model.city) showCity();
  for (const part of Object.values(parts)) part.show();
}

find("language").addEventListener("click", () => chooseLanguage(find("language").dataset.next));
find("theme").addEventListener("click", () => window.dispatchEvent(new Event("themetoggle")));
onLanguage(showAll);
translatePage();
showAll();

new LiveEvents("/api/v1/events", {
  onEvent: (name, payload) => model.take(name, payload),
  onLink: (isConnected) => {
    model.setConnected(isConnected);
    // A stream that is refused does not say why; this question does.
    parts.who.read().catch(() => {});
  },
}).open();
