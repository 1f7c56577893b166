// The city in a few figures: what needs somebody now, how long people wait, how much is old, what is on its way.
import type { OrderRow, SitesAnswer } from "../../api/types";
import { cityWords } from "../../language/city_words";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import { BANDS, countBands, GRAVE_SCORE, isOld, waitingPeople } from "../../map/bands";
import { BandMark } from "./band_mark";
import { nowWords } from "./now_words";

interface FiguresStripProps {
  readonly city: SitesAnswer;
  readonly orders: readonly OrderRow[] | null;
}

export function FiguresStrip({ city, orders }: FiguresStripProps) {
  const say = useSay(nowWords);
  const { number, minutes } = useFormat();
  const open = city.sites.filter((site) => site.is_open);
  const waiting = open.map(waitingPeople).filter((people) => people !== null);
  const overdue = orders?.filter((order) => Date.parse(order.due_at) < Date.parse(city.now)).length ?? 0;
  return (
    <section className="strip" aria-label={say("figures.label")}>
      <Figure
        name={say("figures.grave")}
        value={number(city.sites.filter((site) => site.trouble_score >= GRAVE_SCORE).length)}
        note={say("figures.old", { count: open.filter((site) => isOld(site, city)).length })}
      />
      <Figure
        name={say("figures.waiting")}
        value={waiting.length ? number(waiting.reduce((sum, people) => sum + people, 0)) : number(null)}
        note={say("figures.median_wait", { wait: minutes(median(open.map((site) => site.wait_minutes))) })}
      />
      <Figure
        name={say("figures.orders")}
        value={number(orders?.length)}
        note={say("figures.overdue", { count: overdue })}
      />
      <Figure
        name={say("figures.open")}
        value={number(open.length)}
        note={say("figures.of", { count: city.sites.length })}
      />
      <BandCounts city={city} />
    </section>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly note: string;
}

function Figure({ name, value, note }: FigureProps) {
  return (
    <div className="figure">
      <span className="figure-name">{name}</span>
      <span className="figure-value">{value}</span>
      <span className="figure-note">{note}</span>
    </div>
  );
}

function BandCounts({ city }: { readonly city: SitesAnswer }) {
  const say = useSay(cityWords);
  const { number } = useFormat();
  const counts = countBands(city);
  return (
    <ul className="band-counts">
      {BANDS.map((band) => (
        <li key={band}>
          <BandMark band={band} /> {say(`band.${band}`)} <b>{number(counts[band])}</b>
        </li>
      ))}
    </ul>
  );
}

function median(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  if (!known.length) return null;
  const middle = Math.floor(known.length / 2);
  const [low, high] = [known[known.length % 2 ? middle : middle - 1] ?? 0, known[middle] ?? 0];
  return (low + high) / 2;
}
