// The strip of figures under the header: the city in a few numbers, and the state of the cycle.
import { BANDS, countBands, isOld, waitingPeople } from "./bands.js";
import { bandMark } from "./band_mark.js";
import { element, setText } from "./element.js";
import { age, number, t } from "./language.js";

export class FiguresStrip {
  constructor(root, model) {
    this.root = root;
    this.model = model;
    this.value = (name) => root.querySelector(`[data-figure="${name}"]`);
  }

  show() {
    const { city, sites, orders } = this.model;
    if (!city) return;
    this.showBands(countBands(city), sites.length);
    const waiting = sites.map(waitingPeople).filter((people) => people !== null);
    setText(this.value("waiting"), waiting.length ? number(sum(waiting)) : "–");
    const waits = sites.filter((site) => site.is_open && site.wait_minutes !== null).map((site) => site.wait_minutes);
    setText(this.value("median-wait"), waits.length ? t("figures.median_wait", { minutes: Math.round(median(waits)) }) : "–");
    setText(this.value("orders"), number(orders.length));
    const answered = orders.filter((order) => ["acknowledged", "under_way"].includes(order.state)).length;
    setText(this.value("orders-state"), t("figures.answered", { answered, all: orders.length }));
    this.showAges(city, sites);
  }

  showBands(counts, numSites) {
    const bar = this.value("bands");
    const legend = this.value("bands-legend");
    for (const band of BANDS) {
      let segment = bar.querySelector(`[data-band="${band}"]`);
      if (!segment) {
        segment = element("span", { class: "band-segment", "data-band": band });
        bar.append(segment);
        legend.append(element("span", { class: "band-count", "data-band": band }, bandMark(band), element("span")));
      }
      segment.style.setProperty("flex-grow", counts[band]);
      segment.hidden = counts[band] === 0;
      setText(legend.querySelector(`[data-band="${band}"] > span`), `${t(`band.${band}`)} ${number(counts[band])}`);
    }
    bar.setAttribute("aria-label", BANDS.map((band) => `${t(`band.${band}`)} ${counts[band]}`).join(", "));
    setText(this.value("sites"), number(numSites));
  }

  showAges(city, sites) {
    const ages = sites.map((site) => site.age_minutes).filter((minutes) => minutes !== null);
    const old = sites.filter((site) => site.is_open && isOld(site, city)).length;
    setText(this.value("age"), ages.length ? age(median(ages)) : t("age.never"));
    setText(this.value("old"), t("figures.old_sites", { old }));
    this.value("old").classList.toggle("alarming", old > 0);
  }
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
