// Fridges: every temperature of today against the band, and how much of the excursion budget is spent.
import type { FridgeDay, FridgeRow, SiteDay, SiteDetail } from "../../api/types";
import { Known, Panel } from "../../frame/panel";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import type { Kept } from "../../state/answers";
import { FridgeChart } from "./fridge_chart";
import { siteWords } from "./site_words";

interface FridgePanelProps {
  readonly detail: SiteDetail;
  readonly day: Kept<SiteDay>;
}

export function FridgePanel({ detail, day }: FridgePanelProps) {
  const say = useSay(siteWords);
  return (
    <Panel title={say("fridge.title")}>
      <Known kept={day}>
        {({ fridges }) =>
          fridges.length === 0 ? (
            <p className="muted note">{say("nothing")}</p>
          ) : (
            fridges.map((fridge) => (
              <Fridge
                key={fridge.fridge_id}
                fridge={fridge}
                now={detail.fridges.find((row) => row.fridge_id === fridge.fridge_id) ?? null}
              />
            ))
          )
        }
      </Known>
    </Panel>
  );
}

function Fridge({ fridge, now }: { readonly fridge: FridgeDay; readonly now: FridgeRow | null }) {
  const say = useSay(siteWords);
  const { number } = useFormat();
  const band = { low: number(fridge.low_celsius, 1), high: number(fridge.high_celsius, 1) };
  const celsius = now?.temperature_celsius ?? null;
  const isOutside = (now?.degrees_outside ?? 0) !== 0 || now?.has_power === false;
  return (
    <div className="fridge">
      <h3>{say("fridge.name", { fridge: fridge.fridge_id })}</h3>
      <p className={isOutside ? "alarming" : ""}>
        {celsius === null ? say("fridge.unknown", band) : say("fridge.now", { celsius: number(celsius, 1), ...band })}
        {now?.has_power === false && ` · ${say("fridge.no_power")}`}
      </p>
      <Budget fridge={fridge} />
      <FridgeChart fridge={fridge} />
    </div>
  );
}

function Budget({ fridge }: { readonly fridge: FridgeDay }) {
  const say = useSay(siteWords);
  const { excursion_minutes: spent, excursion_budget_minutes: budget } = fridge;
  if (budget === null) return <p className="muted">{say("fridge.no_budget", { spent })}</p>;
  const words = say("fridge.budget", { spent, budget });
  return (
    <p>
      <label>
        {words} <meter min={0} max={budget} high={budget / 2} optimum={0} value={spent ?? 0} aria-label={words} />
      </label>
    </p>
  );
}
