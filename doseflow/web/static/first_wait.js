// Before the first cycle: says what is being waited for.
import { setText } from "./element.js";
import { t } from "./language.js";

export class FirstWait {
  constructor(root, model) {
    this.root = root;
    this.model = model;
    this.words = root.querySelector("[data-wait-words]");
    this.steps = root.querySelector("[data-wait-reports]");
  }

  show() {
    const { cycle, city, isConnected, reportsSeen } = this.model;
    this.root.hidden = cycle !== null;
    if (cycle !== null) return;
    setText(this.words, t(isConnected ? "first.waiting" : "first.joining", { sites: city?.sites.length ?? null }));
    setText(this.steps, reportsSeen ? t("first.reports", { reports: reportsSeen }) : t("first.no_reports"));
  }
}
