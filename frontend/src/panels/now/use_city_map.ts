// Keeps a drawn map in step with what the page knows.
import { type RefObject, useEffect, useRef, useState } from "react";
import type { OrderRow, SitesAnswer } from "../../api/types";
import { CityMap, type MapListener } from "../../map/city_map";
import { flowsOf } from "../../map/flows";
import { followPointer } from "../../map/pointer";
import { useColours } from "../../theme/colours";

export interface MapShown {
  readonly city: SitesAnswer;
  readonly orders: readonly OrderRow[];
  readonly litId: string | null;
}

export function useCityMap(
  canvas: RefObject<HTMLCanvasElement | null>,
  shown: MapShown,
  listener: MapListener,
): CityMap | null {
  const colours = useColours();
  const [map, setMap] = useState<CityMap | null>(null);
  const latest = useRef({ listener, colours });
  latest.current = { listener, colours };
  useEffect(() => {
    if (!canvas.current) return;
    const made = new CityMap(canvas.current, latest.current.colours, {
      onHover: (site, at) => latest.current.listener.onHover(site, at),
      onChoose: (site) => latest.current.listener.onChoose(site),
      onPaint: (view) => latest.current.listener.onPaint(view),
    });
    const endPointer = followPointer(canvas.current, made);
    const watch = new ResizeObserver(() => made.fit());
    watch.observe(canvas.current);
    setMap(made);
    return () => {
      endPointer();
      watch.disconnect();
      made.end();
    };
  }, [canvas]);
  useEffect(() => map?.setColours(colours), [map, colours]);
  useEffect(() => map?.setCity(shown.city), [map, shown.city]);
  useEffect(() => {
    const moves = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    map?.setFlows(flowsOf(shown.orders), moves);
  }, [map, shown.orders]);
  useEffect(() => map?.lightUp(shown.litId), [map, shown.litId]);
  return map;
}
