// Which part of the plane is on the screen, and how large.
import { ends } from "./delaunay";
import type { Point } from "./places";

const MARGIN_PIXELS = 46;
const TALL_MARGIN_PIXELS = 54;
const MOST_ZOOM = 60;
const LEAST_ZOOM = 0.8;
const EARTH_KM_PER_DEGREE = 111.32;

export class MapView {
  width = 1;
  height = 1;
  zoom = 1;
  centreX = 0.5;
  centreY = 0.5;
  #left = 0;
  #right = 1;
  #top = 0;
  #bottom = 1;

  setBounds(places: readonly Point[]): void {
    if (places.length) {
      [this.#left, this.#right] = ends(places.map((place) => place.x));
      [this.#top, this.#bottom] = ends(places.map((place) => place.y));
    }
    this.reset();
  }

  setSize(width: number, height: number): void {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
  }

  reset(): void {
    this.zoom = 1;
    this.centreX = (this.#left + this.#right) / 2;
    this.centreY = (this.#top + this.#bottom) / 2;
  }

  // Pixels for one degree of latitude.
  get scale(): number {
    const across = (this.width - 2 * MARGIN_PIXELS) / Math.max(0.02, this.#right - this.#left);
    const down = (this.height - 2 * TALL_MARGIN_PIXELS) / Math.max(0.02, this.#bottom - this.#top);
    return Math.max(1, Math.min(across, down)) * this.zoom;
  }

  toScreen(point: Point): Point {
    return this.projector()(point);
  }

  // For many points of one view: its scale is worked out once.
  projector(): (point: Point) => Point {
    const { scale, centreX, centreY, width, height } = this;
    return ({ x, y }) => ({ x: (x - centreX) * scale + width / 2, y: (y - centreY) * scale + height / 2 });
  }

  pan(dx: number, dy: number): void {
    this.centreX = clamped(this.centreX - dx / this.scale, this.#left, this.#right);
    this.centreY = clamped(this.centreY - dy / this.scale, this.#top, this.#bottom);
  }

  zoomAt(factor: number, screenX = this.width / 2, screenY = this.height / 2): void {
    const before = this.scale;
    this.zoom = clamped(this.zoom * factor, LEAST_ZOOM, MOST_ZOOM);
    const grown = 1 / before - 1 / this.scale;
    this.centreX += (screenX - this.width / 2) * grown;
    this.centreY += (screenY - this.height / 2) * grown;
  }

  moveTo({ x, y }: Point, zoom: number): void {
    this.centreX = x;
    this.centreY = y;
    this.zoom = Math.max(this.zoom, zoom);
  }

  // A round length in km and how many pixels it takes.
  scaleBar(mostPixels: number): { km: number; pixels: number } {
    const most = (mostPixels / this.scale) * EARTH_KM_PER_DEGREE;
    const power = 10 ** Math.floor(Math.log10(most));
    const km = [5, 2, 1].map((step) => step * power).find((length) => length <= most) ?? power;
    return { km, pixels: (km / EARTH_KM_PER_DEGREE) * this.scale };
  }
}

function clamped(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
