// The small note beside the pointer: which site this is, its wait, and what is wrong.
import { bandOf } from "./bands.js";
import { element } from "./element.js";
import { age, t } from "./language.js";
import { troubleSentence } from "./trouble_words.js";

export class MapTip {
  constructor(tip, map) {
    this.tip = tip;
    this.map = map;
  }

  show(site) {
    this.tip.hidden = site === null;
    if (site === null) return;
    const band = bandOf(site, this.map.city);
    const wait = site.wait_minutes === null ? t("wait.unknown") : t("wait.minutes", { minutes: Math.round(site.wait_minutes) });
    this.tip.replaceChildren(
      element("strong", { text: site.name }),
      element("span", { text: `${t(`band.${band}`)} · ${wait} · ${age(site.age_minutes)}` }),
      ...site.troubles.slice(0, 2).map((trouble) => element("span", { class: "tip-trouble", text: troubleSentence(trouble) })),
    );
    this.place(this.map.screenOf(site.site_id));
  }

  place({ x, y }) {
    const { width, height } = this.map.view;
    const { offsetWidth, offsetHeight } = this.tip;
    const left = x + 14 + offsetWidth > width ? x - 14 - offsetWidth : x + 14;
    const top = Math.min(Math.max(6, y - offsetHeight / 2), height - offsetHeight - 6);
    this.tip.style.setProperty("left", `${Math.max(6, left)}px`);
    this.tip.style.setProperty("top", `${top}px`);
  }
}
