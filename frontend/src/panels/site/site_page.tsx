// One site in full.
import { useMemo } from "react";
import { Known } from "../../frame/panel";
import { ProblemNote } from "../../frame/problem_note";
import type { PageProps } from "../../routing/pages";
import { ON_CYCLE, ON_ORDERS, useAnswer } from "../../state/use_answer";
import { useCity } from "../../state/use_city";
import { ArrivalsPanel } from "./arrivals_panel";
import { FridgePanel } from "./fridge_panel";
import { KnownPanel } from "./known_panel";
import { LotsPanel } from "./lots_panel";
import { OrdersPanel } from "./orders_panel";
import { QueuePanel } from "./queue_panel";
import { ReportsPanel } from "./reports_panel";
import "./site.css";
import { SiteHead } from "./site_head";
import { StaffPanel } from "./staff_panel";

export default function SitePage({ params }: PageProps) {
  const siteId = params.siteId ?? "";
  const asked = useMemo(() => ({ path: { site_id: siteId } }), [siteId]);
  const detail = useAnswer("/api/v1/sites/{site_id}", asked, ON_ORDERS);
  const day = useAnswer("/api/v1/sites/{site_id}/day", asked, ON_CYCLE);
  const city = useCity().value;
  return (
    <div className="site">
      <Known kept={detail}>
        {(site) => (
          <>
            <SiteHead detail={site} city={city} />
            {detail.problem && <ProblemNote problem={detail.problem} />}
            <div className="column">
              <QueuePanel detail={site} day={day} />
              <FridgePanel detail={site} day={day} />
              <StaffPanel detail={site} />
            </div>
            <div className="column">
              <ArrivalsPanel detail={site} day={day} />
              <LotsPanel detail={site} />
              <KnownPanel detail={site} />
            </div>
            <OrdersPanel detail={site} city={city} />
            <ReportsPanel siteId={siteId} />
          </>
        )}
      </Known>
    </div>
  );
}
