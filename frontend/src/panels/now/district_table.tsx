// Districts: how many sites, who waits where the longest, and where somebody is needed.
import type { SiteRow, SitesAnswer } from "../../api/types";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import { GRAVE_SCORE, isOld, waitingPeople } from "../../map/bands";
import { nowWords } from "./now_words";

interface DistrictTableProps {
  readonly city: SitesAnswer;
  readonly sites: readonly SiteRow[];
  readonly onChoose: (district: string) => void;
}

export function DistrictTable({ city, sites, onChoose }: DistrictTableProps) {
  const say = useSay(nowWords);
  const { number, minutes } = useFormat();
  return (
    <table className="districts">
      <thead>
        <tr>
          <th scope="col">{say("list.district")}</th>
          <th scope="col">{say("list.sites")}</th>
          <th scope="col">{say("list.worst_wait")}</th>
          <th scope="col">{say("list.queue")}</th>
          <th scope="col">{say("list.grave")}</th>
          <th scope="col">{say("kind.stale")}</th>
        </tr>
      </thead>
      <tbody>
        {districtsOf(city, sites).map((district) => (
          <tr key={district.name}>
            <th scope="row">
              <button type="button" className="link" onClick={() => onChoose(district.name)}>
                {district.name}
              </button>
            </th>
            <td>{number(district.sites)}</td>
            <td>{minutes(district.worstWait === null ? null : Math.round(district.worstWait))}</td>
            <td>{number(district.waiting)}</td>
            <td className={district.grave ? "alarming" : ""}>{number(district.grave)}</td>
            <td>{number(district.old)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export interface District {
  readonly name: string;
  readonly sites: number;
  readonly worstWait: number | null;
  readonly waiting: number | null;
  readonly grave: number;
  readonly old: number;
}

// The worst first.
export function districtsOf(city: SitesAnswer, sites: readonly SiteRow[]): District[] {
  const byName = new Map<string, SiteRow[]>();
  for (const site of sites) byName.set(site.district, [...(byName.get(site.district) ?? []), site]);
  const districts = [...byName].map(([name, inside]) => {
    const waits = inside.map((site) => site.wait_minutes).filter((wait) => wait !== null);
    const waiting = inside.map(waitingPeople).filter((people) => people !== null);
    return {
      name,
      sites: inside.length,
      worstWait: waits.length ? Math.max(...waits) : null,
      waiting: waiting.length ? waiting.reduce((sum, people) => sum + people, 0) : null,
      grave: inside.filter((site) => site.trouble_score >= GRAVE_SCORE).length,
      old: inside.filter((site) => site.is_open && isOld(site, city)).length,
    };
  });
  return districts.sort((a, b) => b.grave - a.grave || (b.worstWait ?? -1) - (a.worstWait ?? -1));
}
