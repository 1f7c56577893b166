// The whole city's arrivals today against the forecast, and the fan of the next two hours.
import type { ArrivalsOfDay, CityDay } from "../../api/types";
import { ArrivalsChart } from "../../charts/arrivals_chart";
import { Known, Panel } from "../../frame/panel";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import type { Kept } from "../../state/answers";
import { nowWords } from "./now_words";

const PERIODS_PER_HOUR = 12;

interface CityForecastProps {
  readonly day: Kept<CityDay>;
  readonly marked: number | null;
}

export default function CityForecast({ day, marked }: CityForecastProps) {
  const say = useSay(nowWords);
  const { number } = useFormat();
  return (
    <Panel title={say("forecast.title")} className="forecast-panel">
      <Known kept={day}>
        {({ arrivals }) => {
          const next = nextHour(arrivals);
          if (next === null) return <p className="muted note">{say("forecast.none")}</p>;
          const [low, median, high] = next.map((people) => number(people)) as [string, string, string];
          const label = say("forecast.label", { low, median, high });
          return (
            <>
              <p className="note">{label}</p>
              <ArrivalsChart day={arrivals} label={label} marked={marked} />
              <p className="muted note">{say("forecast.note")}</p>
            </>
          );
        }}
      </Known>
    </Panel>
  );
}

// Low, median and high; null where nothing is forecast.
export function nextHour(day: ArrivalsOfDay): readonly number[] | null {
  const from = day.arrived_people.length;
  const sums = ["q10", "q50", "q90"].map((name) =>
    (day.forecast_people[name] ?? [])
      .slice(from, from + PERIODS_PER_HOUR)
      .reduce<number | null>((sum, people) => (people === null ? sum : (sum ?? 0) + people), null),
  );
  return sums.every((sum) => sum !== null) ? sums : null;
}
