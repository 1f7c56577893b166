// One change: its kind, where, and how much.
import { type FormEvent, useState } from "react";
import type { AskedChange, SitesAnswer } from "../../api/types";
import { useSay } from "../../language/language";
import { whatIfWords } from "./what_if_words";

const KINDS = ["close_site", "suspend_site", "lose_fridge", "walk_ins", "add_vaccinators"] as const;
type Kind = (typeof KINDS)[number];
const AMOUNTS: Readonly<Partial<Record<Kind, { min: number; max: number; step: number; first: number }>>> = {
  suspend_site: { min: 5, max: 720, step: 5, first: 60 },
  walk_ins: { min: 0, max: 5, step: 0.1, first: 2 },
  add_vaccinators: { min: 1, max: 200, step: 1, first: 10 },
};
const IN_THE_CITY: readonly Kind[] = ["walk_ins", "add_vaccinators"];

interface ChangeFormProps {
  readonly city: SitesAnswer;
  readonly isRunning: boolean;
  onRun(change: Partial<AskedChange>): void;
}

export function ChangeForm({ city, isRunning, onRun }: ChangeFormProps) {
  const say = useSay(whatIfWords);
  const [kind, setKind] = useState<Kind>("close_site");
  const [siteId, setSiteId] = useState(city.sites[0]?.site_id ?? "");
  const [amount, setAmount] = useState(0);
  const range = AMOUNTS[kind];
  const isInTheCity = IN_THE_CITY.includes(kind);
  const choose = (chosen: Kind) => {
    setKind(chosen);
    setAmount(AMOUNTS[chosen]?.first ?? 0);
    setSiteId(IN_THE_CITY.includes(chosen) ? "" : siteId || (city.sites[0]?.site_id ?? ""));
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    onRun(changeOf(kind, siteId, amount));
  };
  return (
    <form className="change-form" onSubmit={send}>
      <label>
        {say("form.kind")}
        <select value={kind} onChange={(event) => choose(event.target.value as Kind)}>
          {KINDS.map((each) => (
            <option key={each} value={each}>
              {say(`kind.${each}`)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {say("form.site")}
        <select value={siteId} onChange={(event) => setSiteId(event.target.value)}>
          {isInTheCity && <option value="">{say("form.city")}</option>}
          {city.sites.map((site) => (
            <option key={site.site_id} value={site.site_id}>
              {site.name}
            </option>
          ))}
        </select>
      </label>
      {range && (
        <label>
          {say("form.amount")}
          <input
            type="number"
            min={range.min}
            max={range.max}
            step={range.step}
            value={amount}
            required
            onChange={(event) => setAmount(event.target.valueAsNumber)}
          />
        </label>
      )}
      <button className="button" type="submit" disabled={isRunning}>
        {say("form.run")}
      </button>
    </form>
  );
}

function changeOf(kind: Kind, siteId: string, amount: number): Partial<AskedChange> {
  const where = siteId ? { kind, site_id: siteId } : { kind };
  if (kind === "suspend_site") return { ...where, minutes: amount };
  if (kind === "walk_ins") return { ...where, factor: amount };
  return kind === "add_vaccinators" ? { ...where, people: amount } : where;
}
