// Who the site is, whether it is open, how long people wait, and how old all this is.
import type { SiteDetail, SitesAnswer } from "../../api/types";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import { bandOf, isOld } from "../../map/bands";
import { Go } from "../../routing/go";
import { BandMark } from "../now/band_mark";
import { TroubleLine } from "../now/trouble_line";
import { siteWords } from "./site_words";

interface SiteHeadProps {
  readonly detail: SiteDetail;
  readonly city: SitesAnswer | null;
}

export function SiteHead({ detail, city }: SiteHeadProps) {
  const say = useSay(siteWords);
  const { minutes, ago } = useFormat();
  const { site } = detail;
  const age = site.age_minutes;
  const states = [
    site.is_open ? say("site.open") : say("site.closed"),
    say("site.hours", { opens: detail.opens_at, closes: detail.closes_at }),
    say("site.capacity", { count: detail.daily_capacity_people }),
    site.is_frozen ? say("site.frozen") : null,
    site.is_suspended ? say("site.suspended") : null,
    age === null ? say("site.never") : say("site.reported", { ago: ago(age) }),
  ];
  return (
    <header className="site-head">
      <Go to="/room/">← {say("site.back")}</Go>
      <h1>
        {city && <BandMark band={bandOf(site, city)} />} {site.name} <small className="muted">{site.district}</small>
      </h1>
      <p className="muted">{states.filter(Boolean).join(" · ")}</p>
      <p className="site-wait">
        {say("site.wait")} <strong>{minutes(site.wait_minutes === null ? null : Math.round(site.wait_minutes))}</strong>{" "}
        <TroubleLine site={site} />
      </p>
      {city && site.is_open && age !== null && isOld(site, city) && (
        <p className="banner past">{say("site.old", { minutes: Math.round(age) })}</p>
      )}
    </header>
  );
}
