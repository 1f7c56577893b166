// Sites with the worst first, or by one figure. An old figure looks old, and says how old it is.
import { useState } from "react";
import type { SiteRow, SitesAnswer } from "../../api/types";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import { bandOf, GRAVE_SCORE, isOld, waitingPeople } from "../../map/bands";
import { Go } from "../../routing/go";
import { BandMark } from "./band_mark";
import { nowWords } from "./now_words";
import { COLUMNS, type Column, inOrder } from "./site_order";
import { TroubleLine } from "./trouble_line";

const SHOWN_AT_FIRST = 60;
const SHOWN_MORE = 200;

interface SiteTableProps {
  readonly city: SitesAnswer;
  readonly sites: readonly SiteRow[];
  readonly onLight: (siteId: string | null) => void;
}

export function SiteTable({ city, sites, onLight }: SiteTableProps) {
  const say = useSay(nowWords);
  const [column, setColumn] = useState<Column>("site");
  const [mostRows, setMostRows] = useState(SHOWN_AT_FIRST);
  const ordered = inOrder(sites, column);
  const left = ordered.length - mostRows;
  if (!ordered.length) return <p className="muted note">{say("list.none")}</p>;
  return (
    <>
      <table className="sites">
        <thead>
          <tr>
            {COLUMNS.map((each) => (
              <th key={each} scope="col" aria-sort={each === column ? "descending" : undefined}>
                <button
                  type="button"
                  title={say("list.sort", { column: say(`list.${each}`) })}
                  onClick={() => setColumn(each)}
                >
                  {say(`list.${each}`)}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ordered.slice(0, mostRows).map((site) => (
            <SiteLine key={site.site_id} site={site} city={city} onLight={onLight} />
          ))}
        </tbody>
      </table>
      {left > 0 && (
        <button type="button" className="button more" onClick={() => setMostRows(mostRows + SHOWN_MORE)}>
          {say("list.more", { count: Math.min(left, SHOWN_MORE) })}
        </button>
      )}
    </>
  );
}

interface SiteLineProps {
  readonly site: SiteRow;
  readonly city: SitesAnswer;
  readonly onLight: (siteId: string | null) => void;
}

function SiteLine({ site, city, onLight }: SiteLineProps) {
  const say = useSay(nowWords);
  const { number, ago, minutes } = useFormat();
  const fridge = site.fridge_worst;
  const isWarmOrCold = fridge?.has_power === false || (fridge?.degrees_outside ?? 0) !== 0;
  const classes = [isOld(site, city) ? "old" : "", site.trouble_score >= GRAVE_SCORE ? "grave" : ""].join(" ");
  return (
    <tr
      className={classes}
      data-site={site.site_id}
      onMouseEnter={() => onLight(site.site_id)}
      onMouseLeave={() => onLight(null)}
    >
      <th scope="row">
        <BandMark band={bandOf(site, city)} />{" "}
        <Go to={`/room/sites/${encodeURIComponent(site.site_id)}`} onFocus={() => onLight(site.site_id)}>
          {site.name}
        </Go>{" "}
        <span className="muted">{site.district}</span>
        <TroubleLine site={site} />
      </th>
      <td>{minutes(site.wait_minutes === null ? null : Math.round(site.wait_minutes))}</td>
      <td>{number(waitingPeople(site))}</td>
      <td>{number(site.doses_on_hand)}</td>
      <td className={isWarmOrCold ? "alarming" : ""}>
        {fridge?.temperature_celsius == null ? number(null) : `${number(fridge.temperature_celsius, 1)} °C`}
      </td>
      <td className="age">{site.age_minutes === null ? say("list.never") : ago(site.age_minutes)}</td>
    </tr>
  );
}
