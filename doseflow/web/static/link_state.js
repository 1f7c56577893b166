// Whether the numbers are live. Lost, they look old, and the screen says since when.
import { setText } from "./element.js";
import { clockTime, t } from "./language.js";

export class LinkState {
  constructor({ pill, banner }, model) {
    Object.assign(this, { pill, banner, model });
    setInterval(() => this.show(), 1000);
  }

  show() {
    const { isConnected, lostAt, now, cycleFailed } = this.model;
    const state = isConnected === null ? "joining" : isConnected ? "live" : "lost";
    document.documentElement.dataset.link = state;
    this.pill.dataset.link = state;
    setText(this.pill, t(`link.${state}`));
    const words = state === "lost" ? this.lostWords(lostAt, now) : cycleFailed ? t("link.cycle_failed") : "";
    this.banner.hidden = words === "";
    setText(this.banner, words);
  }

  lostWords(lostAt, now) {
    const seconds = Math.round((Date.now() - lostAt) / 1000);
    return now === null ? t("link.never") : t("link.lost_since", { seconds, time: clockTime(now) });
  }
}
