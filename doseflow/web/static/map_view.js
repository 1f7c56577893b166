// From degrees to the plane, and from the plane to the screen: an equirectangular map, right in the middle of the city.
const MARGIN_PIXELS = 46;
const TALL_MARGIN_PIXELS = 62;
const MOST_ZOOM = 60;
const EARTH_KM_PER_DEGREE = 111.32;

export function toPlane(sites) {
  const latitude = sites.reduce((sum, site) => sum + site.latitude, 0) / Math.max(1, sites.length);
  const shrink = Math.cos((latitude * Math.PI) / 180);
  return sites.map((site) => ({
    x: site.longitude * shrink,
    y: -site.latitude,
    district: site.district,
    siteId: site.site_id,
  }));
}

export class MapView {
  constructor() {
    this.width = 1;
    this.height = 1;
    this.zoom = 1;
    this.setBounds([]);
  }

  setBounds(places) {
    const xs = places.map((place) => place.x);
    const ys = places.map((place) => place.y);
    this.bounds = places.length
      ? { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) }
      : { left: 0, right: 1, top: 0, bottom: 1 };
    this.reset();
  }

  setSize(width, height) {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
  }

  reset() {
    this.zoom = 1;
    this.centreX = (this.bounds.left + this.bounds.right) / 2;
    this.centreY = (this.bounds.top + this.bounds.bottom) / 2;
  }

  // Pixels for one degree of latitude.
  get scale() {
    const { left, right, top, bottom } = this.bounds;
    const across = (this.width - 2 * MARGIN_PIXELS) / Math.max(0.02, right - left);
    const down = (this.height - 2 * TALL_MARGIN_PIXELS) / Math.max(0.02, bottom - top);
    return Math.max(1, Math.min(across, down)) * this.zoom;
  }

  toScreen({ x, y }) {
    return {
      x: (x - this.centreX) * this.scale + this.width / 2,
      y: (y - this.centreY) * this.scale + this.height / 2,
    };
  }

  pan(dx, dy) {
    this.centreX -= dx / this.scale;
    this.centreY -= dy / this.scale;
    this.centreX = Math.min(this.bounds.right, Math.max(this.bounds.left, this.centreX));
    this.centreY = Math.min(this.bounds.bottom, Math.max(this.bounds.top, this.centreY));
  }

  zoomAt(factor, screenX = this.width / 2, screenY = this.height / 2) {
    const before = this.scale;
    this.zoom = Math.min(MOST_ZOOM, Math.max(0.8, this.zoom * factor));
    const grown = 1 / before - 1 / this.scale;
    this.centreX += (screenX - this.width / 2) * grown;
    this.centreY += (screenY - this.height / 2) * grown;
  }

  moveTo({ x, y }, zoom) {
    this.centreX = x;
    this.centreY = y;
    this.zoom = Math.max(this.zoom, zoom);
  }

  // A round length in km and how many pixels it takes.
  scaleBar(mostPixels) {
    const most = (mostPixels / this.scale) * EARTH_KM_PER_DEGREE;
    const power = 10 ** Math.floor(Math.log10(most));
    const km = [5, 2, 1].map((step) => step * power).find((length) => length <= most);
    return { km, pixels: (km / EARTH_KM_PER_DEGREE) * this.scale };
  }
}
