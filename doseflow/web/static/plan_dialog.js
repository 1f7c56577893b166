// The plan of the latest cycle in full: what was asked for and not allowed, and which soft rules it bends.
import { ask } from "./api.js";
import { element } from "./element.js";
import { currentLanguage, number, t } from "./language.js";
import { orderHeadline } from "./order_words.js";

export class PlanDialog {
  constructor(dialog, model) {
    this.dialog = dialog;
    this.model = model;
    this.body = dialog.querySelector("[data-plan]");
    dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
  }

  async open() {
    if (!this.model.cycle) return;
    this.body.replaceChildren(element("p", { class: "muted", text: t("loading") }));
    this.dialog.showModal();
    try {
      this.fill(await ask(`/api/v1/plans/${encodeURIComponent(this.model.cycle.plan_id)}`));
    } catch (error) {
      this.body.replaceChildren(element("p", { class: "alarming", text: error.message }));
    }
  }

  fill(plan) {
    const sentences = plan.infeasible?.sentences ?? [];
    this.body.replaceChildren(
      element("p", { text: t("plan.summary", { decisions: plan.decisions.length, planner: plan.planner }) }),
      ...(plan.made_by ? [element("p", { class: plan.why_this_planner ? "alarming" : "muted", text: plan.made_by })] : []),
      ...section(t("plan.infeasible"), sentences),
      ...section(t("plan.dropped", { count: plan.dropped.length }), plan.dropped.map((each) => this.droppedSentence(each))),
      ...section(t("plan.soft", { count: plan.soft_violations.length }), plan.soft_violations.map((each) => this.softSentence(each))),
    );
  }

  droppedSentence(planned) {
    const headline = orderHeadline({ decision: planned }, (siteId) => this.nameOf(siteId));
    const site = this.nameOf(planned.site_id ?? planned.from_site_id);
    return `${site}: ${headline} – ${currentLanguage() === "zh" ? planned.reason_zh : planned.reason_en}`;
  }

  softSentence(violation) {
    return `${this.nameOf(violation.site_id)}: ${violation.sentence} (${violation.rule}, ${number(violation.amount, 1)})`;
  }

  nameOf(siteId) {
    return this.model.siteById.get(siteId)?.name ?? siteId;
  }
}

function section(title, sentences) {
  if (!sentences.length) return [];
  return [
    element("h3", { text: title }),
    element("ul", { class: "sentences" }, ...sentences.map((sentence) => element("li", { text: sentence }))),
  ];
}
