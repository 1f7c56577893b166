// The models: who answers for each net, how a release stands, and what happened before. Steps are taken here too.
import { ask, tell } from "./api.js";
import { element } from "./element.js";
import { number, t } from "./language.js";

const SHORT_DIGITS = 12;
const SHOWN_EVENTS = 12;

export class ModelsDialog {
  constructor(dialog) {
    this.dialog = dialog;
    this.body = dialog.querySelector("[data-models]");
    dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
  }

  async open() {
    this.body.replaceChildren(element("p", { class: "muted", text: t("loading") }));
    this.dialog.showModal();
    await this.show();
  }

  async show() {
    try {
      this.fill(await ask("/api/v1/models"));
    } catch (error) {
      this.complain(error);
    }
  }

  fill({ nets, events, has_store: hasStore }) {
    this.body.replaceChildren(
      ...(nets.length ? nets.flatMap((net) => this.netWords(net, hasStore)) : [element("p", { text: t("models.none") })]),
      ...eventWords(events),
    );
  }

  netWords(net, hasStore) {
    const { aliases } = net;
    return [
      element("h3", { text: t(`net.${net.net}`) }),
      element("p", { text: t("models.answering", { model: net.answering, breaker: t(`breaker.${net.breaker}`) }) }),
      ...(aliases.challenger ? [element("p", { text: challengerWords(aliases) }), ...evidenceWords(net.evidence)] : []),
      ...(hasStore ? [element("p", {}, ...this.buttons(net))] : []),
    ];
  }

  buttons({ net, aliases }) {
    const buttons = [];
    if (aliases.phase === "ready") buttons.push(this.button("models.promote", "promote", net));
    if (aliases.challenger || aliases.previous) buttons.push(this.button("models.rollback", "rollback", net));
    return buttons;
  }

  button(key, step, net) {
    return element("button", { type: "button", class: "tool", text: t(key), onclick: () => this.take(step, net) });
  }

  async take(step, net) {
    try {
      await tell(`/api/v1/models/${step}`, { net });
      await this.show();
    } catch (error) {
      this.complain(error);
    }
  }

  complain(error) {
    this.body.prepend(element("p", { class: "alarming", role: "alert", text: error.message }));
  }
}

function challengerWords({ challenger, phase, share_permille: share }) {
  return t("models.challenger", { model: challenger.slice(0, SHORT_DIGITS), phase: t(`phase.${phase}`), share: number(share / 10, 1) });
}

function evidenceWords(evidence) {
  if (!evidence.cycles) return [];
  const difference = evidence.cost_difference_share;
  const cost = difference === null ? "–" : number(100 * difference, 1);
  return [
    element("p", { text: t("models.evidence", { cycles: evidence.cycles, cost, p99: number(evidence.challenger_p99_milliseconds, 1) }) }),
    element("p", { class: "muted", text: evidence.verdict }),
  ];
}

function eventWords(events) {
  if (!events.length) return [];
  const lines = events.slice(0, SHOWN_EVENTS).map((event) => `${event.at.slice(0, 16)} ${event.net} ${event.event} (${event.by}) ${event.why}`);
  return [
    element("h3", { text: t("models.events") }),
    element("ul", { class: "sentences" }, ...lines.map((line) => element("li", { text: line }))),
  ];
}
