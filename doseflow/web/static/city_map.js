// The map: ground, flows, sites and names on one canvas, drawn again only when something changed.
import { GRAVE_SCORE, bandOf } from "./bands.js";
import { FLOW_FAMILIES, drawFlow } from "./flow_arrows.js";
import { GroundLayer } from "./ground_layer.js";
import { makeLand } from "./land.js";
import { Labels } from "./map_labels.js";
import { MapView, toPlane } from "./map_view.js";
import { drawMarks, markRadius } from "./site_marks.js";

const LABELLED_SITES = 9;
const LABELLED_NARROW = 4;
const NARROW_PIXELS = 500;
const MOST_DISTRICT_NAMES = 24;
const MOST_FLOWS = 300;
const PICK_PIXELS = 9;
const PAINT_ORDER = ["closed", "unknown", "clear", "busy", "crowded"];
const COLOURS = {
  land: "--land", landEdge: "--land-edge", border: "--border-line", sea: "--sea", ink: "--ink", faint: "--faint",
  markEdge: "--mark-edge", ring: "--accent", clear: "--clear", busy: "--busy", crowded: "--crowded", closed: "--closed",
  unknown: "--unknown", flowStaff: "--flow-staff", flowDoses: "--flow-doses", flowArrivals: "--flow-arrivals",
};

export class CityMap {
  constructor(canvas, { onHover, onChoose, onPaint }) {
    this.canvas = canvas;
    this.ctx = canvas.getContext("2d");
    this.view = new MapView();
    this.onHover = onHover;
    this.onChoose = onChoose;
    this.onPaint = onPaint;
    this.places = [];
    this.orders = [];
    this.hoveredId = null;
    this.chosenId = null;
    this.isDrawing = false;
    this.ground = new GroundLayer(() => this.draw());
    this.readColours();
    new ResizeObserver(() => this.resize()).observe(canvas);
    window.addEventListener("themechange", () => {
      this.readColours();
      this.ground.forget();
      this.draw();
    });
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    this.colours = Object.fromEntries(Object.entries(COLOURS).map(([name, token]) => [name, style.getPropertyValue(token).trim()]));
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.canvas;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.view.setSize(clientWidth, clientHeight);
    this.paint();
  }

  setCity(city) {
    this.city = city;
    const key = city.sites.map((site) => `${site.site_id}@${site.latitude},${site.longitude}`).join();
    if (key !== this.placesKey) {
      this.placesKey = key;
      this.places = toPlane(city.sites);
      this.idxOfSite = new Map(city.sites.map((site, idx) => [site.site_id, idx]));
      this.land = makeLand(this.places);
      this.ground.forget();
      this.view.setBounds(this.places);
    }
    this.draw();
  }

  setOrders(orders) {
    this.orders = orders.filter((order) => order.expecting_site_id && FLOW_FAMILIES.includes(order.family)).slice(0, MOST_FLOWS);
    this.draw();
  }

  setChosen(siteId) {
    this.chosenId = siteId;
    const idx = siteId === null ? undefined : this.idxOfSite?.get(siteId);
    if (idx !== undefined && !this.isOnScreen(this.view.toScreen(this.places[idx]))) this.view.moveTo(this.places[idx], 3);
    this.draw();
  }

  setHovered(siteId) {
    if (siteId === this.hoveredId) return;
    this.hoveredId = siteId;
    this.draw();
  }

  siteAt(x, y) {
    let nearestIdx = -1;
    let nearest = PICK_PIXELS ** 2;
    this.places.forEach((place, idx) => {
      const at = this.view.toScreen(place);
      const squared = (at.x - x) ** 2 + (at.y - y) ** 2;
      if (squared < nearest) [nearest, nearestIdx] = [squared, idx];
    });
    return nearestIdx < 0 ? null : this.city.sites[nearestIdx];
  }

  screenOf(siteId) {
    return this.view.toScreen(this.places[this.idxOfSite.get(siteId)]);
  }

  draw() {
    if (this.isDrawing) return;
    this.isDrawing = true;
    requestAnimationFrame(() => this.paint());
  }

  paint() {
    this.isDrawing = false;
    const { ctx, view } = this;
    const ratio = window.devicePixelRatio || 1;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, view.width, view.height);
    if (!this.city || !this.places.length) return;
    this.ground.paint(ctx, view, this.land, this.colours, ratio);
    this.paintDistrictNames();
    const screens = this.places.map((place) => view.toScreen(place));
    this.paintFlows(screens);
    this.paintSites(screens);
    this.paintSiteNames(screens);
    this.onPaint();
  }

  paintDistrictNames() {
    const { land, colours, view } = this;
    if (land.districts.length > MOST_DISTRICT_NAMES || land.districts.length < 2) return;
    const labels = new Labels(this.ctx);
    for (const district of [...land.districts].sort((a, b) => b.count - a.count)) {
      const at = view.toScreen(district);
      labels.draw(district.name, at.x, at.y, {
        colour: colours.faint, halo: colours.land, size: 10.5, weight: 500, isCentred: true, spacing: "0.06em",
      });
    }
  }

  paintFlows(screens) {
    const focus = this.hoveredId ?? this.chosenId;
    for (const order of this.orders) {
      const [from, to] = [this.idxOfSite.get(order.site_id), this.idxOfSite.get(order.expecting_site_id)];
      if (from === undefined || to === undefined) continue;
      const isLit = focus !== null && (order.site_id === focus || order.expecting_site_id === focus);
      drawFlow(this.ctx, order, screens[from], screens[to], this.colours, { isLit, isDimmed: focus !== null && !isLit });
    }
  }

  paintSites(screens) {
    const { ctx, city, colours, view } = this;
    const marks = city.sites.map((site, idx) => ({ ...screens[idx], site, radius: markRadius(site, city.sites.length, view) }));
    const shown = marks.filter((mark) => this.isOnScreen(mark));
    const byBand = Object.fromEntries(PAINT_ORDER.map((band) => [band, []]));
    for (const mark of shown) byBand[bandOf(mark.site, city)].push(mark);
    for (const band of PAINT_ORDER) drawMarks(ctx, band, byBand[band], colours);
    for (const mark of shown) if (mark.site.trouble_score >= GRAVE_SCORE) this.paintAlarm(mark, mark.radius);
    for (const mark of shown) if ([this.chosenId, this.hoveredId].includes(mark.site.site_id)) this.paintRing(mark, mark.radius);
  }

  // A grave trouble that the wait does not tell, a failing fridge for instance.
  paintAlarm({ x, y }, radius) {
    const { ctx, colours } = this;
    ctx.beginPath();
    ctx.arc(x, y, radius + 3.5, 0, 2 * Math.PI);
    ctx.lineWidth = 1.6;
    ctx.strokeStyle = colours.crowded;
    ctx.stroke();
  }

  paintRing({ x, y }, radius) {
    const { ctx, colours } = this;
    ctx.beginPath();
    ctx.arc(x, y, radius + 5, 0, 2 * Math.PI);
    ctx.lineWidth = 2.2;
    ctx.strokeStyle = colours.ring;
    ctx.stroke();
  }

  paintSiteNames(screens) {
    const { city, colours } = this;
    const labels = new Labels(this.ctx);
    const worst = city.sites
      .map((site, idx) => ({ site, idx }))
      .filter(({ site, idx }) => site.trouble_score > 0 && this.isOnScreen(screens[idx]))
      .sort((a, b) => b.site.trouble_score - a.site.trouble_score)
      .slice(0, 4 * LABELLED_SITES);
    const named = [this.chosenId, this.hoveredId].filter((id) => id !== null && this.idxOfSite.has(id));
    const first = named.map((id) => ({ site: city.sites[this.idxOfSite.get(id)], idx: this.idxOfSite.get(id) }));
    const isNarrow = this.view.width < NARROW_PIXELS;
    let drawn = 0;
    for (const { site, idx } of [...first, ...worst]) {
      if (drawn >= (isNarrow ? LABELLED_NARROW : LABELLED_SITES)) break;
      const radius = markRadius(site, city.sites.length, this.view);
      const style = { colour: colours.ink, halo: colours.land, most: this.view.width };
      if (labels.drawBeside(shortened(site.name), screens[idx], radius + 6, style)) drawn += 1;
    }
  }

  isOnScreen({ x, y }) {
    return x > -20 && y > -20 && x < this.view.width + 20 && y < this.view.height + 20;
  }
}

function shortened(name) {
  return name.length > 26 ? `${name.slice(0, 25)}…` : name;
}
