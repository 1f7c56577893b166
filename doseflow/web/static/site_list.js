// Sites by trouble, the worst first: what is wrong in words, and how old the data is.
import { GRAVE_SCORE, bandOf, isOld } from "./bands.js";
import { bandMark, setBand } from "./band_mark.js";
import { element, setText } from "./element.js";
import { fillKeyed } from "./keyed_list.js";
import { age, number, t } from "./language.js";
import { troubleSentence } from "./trouble_words.js";

const MOST_ROWS = 150;

export class SiteList {
  constructor({ list, count, search, note }, model) {
    Object.assign(this, { list, count, search, note, model });
    search.addEventListener("input", () => this.show());
  }

  show() {
    const { city, sites } = this.model;
    if (!city) return;
    const wanted = this.search.value.trim().toLowerCase();
    const troubled = sites.filter((site) => site.trouble_score > 0);
    const matching = wanted ? sites.filter((site) => matches(site, wanted)) : troubled;
    const rows = [...matching].sort((a, b) => b.trouble_score - a.trouble_score).slice(0, MOST_ROWS);
    setText(this.count, number(wanted ? matching.length : troubled.length));
    fillKeyed(this.list, rows, (site) => site.site_id, (site) => this.makeRow(site.site_id), (row, site) => this.fillRow(row, site));
    setText(this.note, this.noteFor(matching.length, rows.length, wanted));
    this.note.hidden = this.note.textContent === "";
  }

  noteFor(numMatching, numShown, wanted) {
    if (!numMatching) return t(wanted ? "sites.none_found" : "sites.no_trouble");
    return numMatching > numShown ? t("sites.more", { more: numMatching - numShown }) : "";
  }

  makeRow(siteId) {
    const parts = {
      mark: bandMark("closed"),
      name: element("span", { class: "row-name" }),
      place: element("span", { class: "row-place" }),
      wait: element("span", { class: "row-wait" }),
      cause: element("span", { class: "row-cause" }),
      more: element("span", { class: "row-more" }),
      age: element("span", { class: "row-age" }),
    };
    const button = element(
      "button",
      { type: "button", class: "row-button", onclick: () => this.model.choose(siteId) },
      parts.mark,
      element("span", { class: "row-head" }, parts.name, parts.wait),
      element("span", { class: "row-causes" }, parts.cause, parts.more),
      element("span", { class: "row-foot" }, parts.place, parts.age),
    );
    const row = element("li", { class: "row", "data-site": siteId }, button);
    row.parts = { ...parts, button };
    return row;
  }

  fillRow(row, site) {
    const { city, chosenSiteId } = this.model;
    const { parts } = row;
    const band = bandOf(site, city);
    setBand(parts.mark, band);
    setText(parts.name, site.name);
    setText(parts.place, site.district);
    setText(parts.wait, site.is_open && site.wait_minutes !== null ? t("wait.minutes", { minutes: Math.round(site.wait_minutes) }) : t(`band.${band}`));
    parts.wait.dataset.band = band;
    const [first, ...rest] = site.troubles;
    setText(parts.cause, first ? troubleSentence(first) : t("sites.fine"));
    setText(parts.more, rest.map(troubleSentence).join(" · "));
    parts.more.hidden = rest.length === 0;
    setText(parts.age, age(site.age_minutes));
    row.classList.toggle("old", isOld(site, city));
    row.classList.toggle("grave", site.trouble_score >= GRAVE_SCORE);
    row.classList.toggle("chosen", site.site_id === chosenSiteId);
    parts.button.setAttribute("aria-pressed", String(site.site_id === chosenSiteId));
  }
}

function matches(site, wanted) {
  return [site.name, site.district, site.site_id].some((text) => text.toLowerCase().includes(wanted));
}
