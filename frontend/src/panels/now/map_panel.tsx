// The map of the city, with its key, its scale, and what lies under the pointer.
import { useRef, useState } from "react";
import type { OrderRow, SiteRow, SitesAnswer } from "../../api/types";
import { cityWords } from "../../language/city_words";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import { bandOf } from "../../map/bands";
import { FLOW_FAMILIES } from "../../map/flows";
import type { MapView } from "../../map/map_view";
import type { Point } from "../../map/places";
import { navigate } from "../../routing/route";
import { nowWords } from "./now_words";
import { TroubleLine } from "./trouble_line";
import { useCityMap } from "./use_city_map";

const ZOOM = 1.5;
const SCALE_PIXELS = 110;

interface MapPanelProps {
  readonly city: SitesAnswer;
  readonly orders: readonly OrderRow[];
  readonly litId: string | null;
}

interface Hovered {
  readonly site: SiteRow;
  readonly at: Point;
}

export function MapPanel({ city, orders, litId }: MapPanelProps) {
  const say = useSay(nowWords);
  const canvas = useRef<HTMLCanvasElement>(null);
  const scale = useRef<HTMLSpanElement>(null);
  const [hovered, setHovered] = useState<Hovered | null>(null);
  // Written straight into the page: the scale changes with each frame of a zoom, and nothing else need be rendered.
  function showScale(view: MapView): void {
    const { km, pixels } = view.scaleBar(SCALE_PIXELS);
    if (!scale.current) return;
    scale.current.style.width = `${pixels}px`;
    scale.current.textContent = say("map.km", { km });
  }
  const map = useCityMap(
    canvas,
    { city, orders, litId },
    {
      onHover: (site, at) => setHovered(site && at ? { site, at } : null),
      onChoose: (site) => navigate(`/room/sites/${encodeURIComponent(site.site_id)}`),
      onPaint: showScale,
    },
  );
  function zoom(factor: number | null): void {
    if (factor === null) map?.view.reset();
    else map?.view.zoomAt(factor);
    map?.draw();
  }
  return (
    <section className="panel map-panel" aria-label={say("map.title")}>
      <canvas ref={canvas} tabIndex={0} role="img" aria-label={say("map.label", { count: city.sites.length })} />
      <MapKey />
      <div className="zoom">
        <button type="button" className="button" aria-label={say("map.in")} onClick={() => zoom(ZOOM)}>
          +
        </button>
        <button type="button" className="button" aria-label={say("map.out")} onClick={() => zoom(1 / ZOOM)}>
          −
        </button>
        <button type="button" className="button" aria-label={say("map.all")} onClick={() => zoom(null)}>
          ⤢
        </button>
      </div>
      <span className="scale" ref={scale} />
      {hovered && <MapTip city={city} {...hovered} />}
    </section>
  );
}

function MapKey() {
  const say = useSay(nowWords);
  return (
    <div className="map-key" aria-hidden="true">
      <span className="alarm-key">{say("map.alarm")}</span>
      {FLOW_FAMILIES.map((family) => (
        <span key={family} className={`flow ${family}`}>
          {say(`flow.${family}`)}
        </span>
      ))}
    </div>
  );
}

function MapTip({ city, site, at }: Hovered & { readonly city: SitesAnswer }) {
  const sayCity = useSay(cityWords);
  const { minutes, ago } = useFormat();
  return (
    <div className="tip" style={{ left: at.x, top: at.y }}>
      <strong>{site.name}</strong>
      <span>
        {sayCity(`band.${bandOf(site, city)}`)} ·{" "}
        {minutes(site.wait_minutes === null ? null : Math.round(site.wait_minutes))}
        {site.age_minutes !== null && ` · ${ago(site.age_minutes)}`}
      </span>
      <TroubleLine site={site} />
    </div>
  );
}
