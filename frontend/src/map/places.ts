// Where things are: degrees made into a plane, and the plane into pixels.
import type { SiteRow } from "../api/types";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Place extends Point {
  readonly siteId: string;
  readonly district: string;
}

// An equirectangular map, right in the middle of the city.
export function toPlane(sites: readonly SiteRow[]): Place[] {
  const latitude = sites.reduce((sum, site) => sum + site.latitude, 0) / Math.max(1, sites.length);
  const shrink = Math.cos((latitude * Math.PI) / 180);
  return sites.map((site) => ({
    x: site.longitude * shrink,
    y: -site.latitude,
    siteId: site.site_id,
    district: site.district,
  }));
}

// Changes only where a site came, went or moved.
export function placesKey(sites: readonly SiteRow[]): string {
  return sites.map((site) => `${site.site_id}@${site.latitude},${site.longitude}`).join();
}
