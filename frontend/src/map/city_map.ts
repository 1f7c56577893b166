// The map: ground, flows, sites and names on one canvas, drawn again only when something changed or moves.
import type { SiteRow, SitesAnswer } from "../api/types";
import type { Colours } from "../theme/colours";
import { type Band, bandOf, GRAVE_SCORE } from "./bands";
import { drawDot, drawFlow, type Flow } from "./flows";
import { GroundLayer } from "./ground_layer";
import { Labels } from "./labels";
import { type Land, makeLand } from "./land";
import { MapView } from "./map_view";
import { type Place, type Point, placesKey, toPlane } from "./places";
import { drawMarks, drawRing, type Mark, markRadii } from "./site_marks";

const LABELLED_SITES = 9;
const LABELLED_NARROW = 4;
const NARROW_PIXELS = 500;
const MOST_DISTRICT_NAMES = 24;
const PICK_PIXELS = 9;
const OFF_SCREEN_PIXELS = 20;
const JOURNEY_MILLISECONDS = 2600;
const PAINT_ORDER: readonly Band[] = ["closed", "unknown", "clear", "busy", "crowded"];

export interface MapListener {
  onHover(site: SiteRow | null, at: Point | null): void;
  onChoose(site: SiteRow): void;
  onPaint(view: MapView): void;
}

export class CityMap {
  readonly view = new MapView();
  readonly #canvas: HTMLCanvasElement;
  readonly #ctx: CanvasRenderingContext2D;
  readonly #listener: MapListener;
  readonly #ground = new GroundLayer(() => this.draw());
  #colours: Colours;
  #city: SitesAnswer | null = null;
  #flows: readonly Flow[] = [];
  #places: readonly Place[] = [];
  #placesKey = "";
  #idxOfSite = new Map<string, number>();
  #land: Land | null = null;
  #hoveredId: string | null = null;
  #frame = 0;
  #moves = false;

  constructor(canvas: HTMLCanvasElement, colours: Colours, listener: MapListener) {
    const ctx = canvas.getContext("2d");
    if (!ctx) throw new Error("this browser draws on no canvas");
    this.#canvas = canvas;
    this.#ctx = ctx;
    this.#colours = colours;
    this.#listener = listener;
  }

  end(): void {
    cancelAnimationFrame(this.#frame);
    this.#ground.end();
  }

  setColours(colours: Colours): void {
    this.#colours = colours;
    this.#ground.forget();
    this.draw();
  }

  setCity(city: SitesAnswer): void {
    this.#city = city;
    const key = placesKey(city.sites);
    if (key !== this.#placesKey) {
      this.#placesKey = key;
      this.#places = toPlane(city.sites);
      this.#idxOfSite = new Map(city.sites.map((site, idx) => [site.site_id, idx]));
      this.#land = makeLand(this.#places);
      this.#ground.forget();
      this.view.setBounds(this.#places);
    }
    this.draw();
  }

  // Where `moves`, a dot goes along each flow; people who asked their system for less motion get arrows alone.
  setFlows(flows: readonly Flow[], moves: boolean): void {
    this.#flows = flows;
    this.#moves = moves && flows.length > 0;
    this.draw();
  }

  fit(): void {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.#canvas;
    this.#canvas.width = Math.round(clientWidth * ratio);
    this.#canvas.height = Math.round(clientHeight * ratio);
    this.view.setSize(clientWidth, clientHeight);
    this.#paint();
  }

  hoverAt(at: Point | null): void {
    const site = at === null ? null : this.#siteAt(at);
    const siteId = site?.site_id ?? null;
    if (siteId === this.#hoveredId) return;
    this.lightUp(siteId);
    this.#listener.onHover(site, site ? this.#screenOf(site.site_id) : null);
  }

  lightUp(siteId: string | null): void {
    this.#hoveredId = siteId;
    this.draw();
  }

  chooseAt(at: Point): void {
    const site = this.#siteAt(at);
    if (site) this.#listener.onChoose(site);
  }

  draw(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#paint());
  }

  #siteAt({ x, y }: Point): SiteRow | null {
    let nearest: SiteRow | null = null;
    let least = PICK_PIXELS ** 2;
    const toScreen = this.view.projector();
    for (const [idx, place] of this.#places.entries()) {
      const at = toScreen(place);
      const squared = (at.x - x) ** 2 + (at.y - y) ** 2;
      if (squared < least) [least, nearest] = [squared, this.#city?.sites[idx] ?? null];
    }
    return nearest;
  }

  #screenOf(siteId: string): Point | null {
    const place = this.#places[this.#idxOfSite.get(siteId) ?? -1];
    return place ? this.view.toScreen(place) : null;
  }

  #paint(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const { view } = this;
    const ctx = this.#ctx;
    const ratio = window.devicePixelRatio || 1;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, view.width, view.height);
    if (!this.#city || !this.#land || !this.#places.length) return;
    this.#ground.paint(ctx, view, this.#land, this.#colours, ratio);
    this.#paintDistrictNames(this.#land);
    const marks = this.#marks(this.#city);
    this.#paintFlows();
    this.#paintSites(marks, this.#city);
    this.#paintSiteNames(marks);
    this.#listener.onPaint(view);
    if (this.#moves) this.draw();
  }

  #marks({ sites }: SitesAnswer): Mark[] {
    const toScreen = this.view.projector();
    const radiusOf = markRadii(sites.length, this.view);
    const marks: Mark[] = [];
    for (const [idx, place] of this.#places.entries()) {
      const site = sites[idx];
      const { x, y } = toScreen(place);
      if (site && this.#isOnScreen({ x, y })) marks.push({ x, y, site, radius: radiusOf(site) });
    }
    return marks;
  }

  #paintDistrictNames({ districts }: Land): void {
    if (districts.length > MOST_DISTRICT_NAMES || districts.length < 2) return;
    const labels = new Labels(this.#ctx);
    const style = { colour: this.#colours.muted, halo: this.#colours.land, size: 10.5, weight: 500 };
    const largestFirst = [...districts].sort((a, b) => b.count - a.count);
    for (const district of largestFirst) labels.drawCentred(district.name, this.view.toScreen(district), style);
  }

  #paintFlows(): void {
    const progress = (performance.now() % JOURNEY_MILLISECONDS) / JOURNEY_MILLISECONDS;
    const focus = this.#hoveredId;
    for (const flow of this.#flows) {
      const [from, to] = [this.#screenOf(flow.fromId), this.#screenOf(flow.toId)];
      if (!from || !to) continue;
      const isLit = focus !== null && (flow.fromId === focus || flow.toId === focus);
      const emphasis = isLit ? "lit" : focus === null ? "plain" : "dimmed";
      drawFlow(this.#ctx, flow, from, to, { colours: this.#colours, emphasis });
      if (this.#moves && emphasis !== "dimmed") drawDot(this.#ctx, flow, from, to, progress, this.#colours);
    }
  }

  #paintSites(marks: readonly Mark[], city: SitesAnswer): void {
    const byBand = new Map<Band, Mark[]>(PAINT_ORDER.map((band) => [band, []]));
    for (const mark of marks) byBand.get(bandOf(mark.site, city))?.push(mark);
    for (const [band, inBand] of byBand) drawMarks(this.#ctx, band, inBand, this.#colours);
    for (const mark of marks) {
      // A grave trouble that the wait does not tell, a failing fridge for instance.
      if (mark.site.trouble_score >= GRAVE_SCORE) drawRing(this.#ctx, mark, this.#colours.crowded, 1.6);
      if (mark.site.site_id === this.#hoveredId) drawRing(this.#ctx, mark, this.#colours.accent, 2.4);
    }
  }

  #paintSiteNames(marks: readonly Mark[]): void {
    const labels = new Labels(this.#ctx);
    const style = { colour: this.#colours.ink, halo: this.#colours.land };
    const most = this.view.width < NARROW_PIXELS ? LABELLED_NARROW : LABELLED_SITES;
    const wanted = marks.filter(({ site }) => site.trouble_score > 0 || site.site_id === this.#hoveredId);
    const score = ({ site }: Mark) =>
      site.site_id === this.#hoveredId ? Number.POSITIVE_INFINITY : site.trouble_score;
    let drawn = 0;
    for (const mark of wanted.sort((a, b) => score(b) - score(a)).slice(0, 4 * LABELLED_SITES)) {
      if (drawn >= most) break;
      if (labels.drawBeside(mark.site.name, mark, mark.radius + 6, this.view.width, style)) drawn += 1;
    }
  }

  #isOnScreen({ x, y }: Point): boolean {
    const { width, height } = this.view;
    return (
      x > -OFF_SCREEN_PIXELS &&
      y > -OFF_SCREEN_PIXELS &&
      x < width + OFF_SCREEN_PIXELS &&
      y < height + OFF_SCREEN_PIXELS
    );
  }
}
