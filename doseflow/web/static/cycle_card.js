// The latest cycle: how long it took, by stage; who planned it, and how the proposal was made allowed.
import { element, setText } from "./element.js";
import { number, t } from "./language.js";
import { sparkline } from "./sparkline.js";

const LIMIT_MILLISECONDS = 100;
const STAGES = ["read", "state", "forecast", "policy", "feasible", "orders", "store"];

export class CycleCard {
  constructor(root, model, { onDetails, onModels }) {
    this.root = root;
    this.model = model;
    this.value = (name) => root.querySelector(`[data-figure="${name}"]`);
    this.value("plan").addEventListener("click", onDetails);
    this.value("models").addEventListener("click", onModels);
  }

  show() {
    const { cycle, cycles } = this.model;
    this.root.classList.toggle("empty", !cycle);
    if (!cycle) return;
    setText(this.value("total"), number(cycle.total_milliseconds, cycle.total_milliseconds < 10 ? 1 : 0));
    this.value("total").classList.toggle("alarming", cycle.total_milliseconds > LIMIT_MILLISECONDS);
    this.showStages(cycle.stage_milliseconds);
    const times = [...cycles].reverse().map((each) => each.total_milliseconds);
    const label = t("cycle.recent", { count: times.length });
    this.value("spark").replaceChildren(...(times.length ? [sparkline(times, { limit: LIMIT_MILLISECONDS, label })] : []));
    this.showPlan(cycle);
  }

  showStages(stages) {
    const names = [...STAGES.filter((name) => name in stages), ...Object.keys(stages).filter((name) => !STAGES.includes(name))];
    const bar = this.value("stages");
    bar.replaceChildren(
      ...names.map((name, idx) => {
        const words = `${t(`cycle_stage.${name}`)} ${t("milliseconds", { value: round(stages[name]) })}`;
        return element("span", { class: "stage-segment", "data-stage": idx % 7, title: words, style: { "flex-grow": stages[name] } });
      }),
    );
    const words = names.map((name) => `${t(`cycle_stage.${name}`)} ${number(round(stages[name]), 1)}`);
    bar.setAttribute("aria-label", words.join(", "));
    setText(this.value("stage-words"), words.join(" · "));
  }

  showPlan(cycle) {
    const path = this.value("path");
    setText(this.value("planner"), cycle.planner);
    setText(path, t(`repair.${cycle.repair_path}`));
    path.dataset.path = cycle.infeasible ? "infeasible" : cycle.repair_path;
    const parts = [];
    if (cycle.dropped) parts.push(t("cycle.dropped", { dropped: cycle.dropped }));
    if (cycle.soft_violations) parts.push(t("cycle.soft", { soft: cycle.soft_violations }));
    if (!parts.length) parts.push(t("cycle.nothing_dropped"));
    setText(this.value("repairs"), parts.join(" · "));
  }
}

function round(milliseconds) {
  return Math.round(milliseconds * 10) / 10;
}
