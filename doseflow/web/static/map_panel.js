// The map with its buttons, its scale bar and its note.
import { CityMap } from "./city_map.js";
import { t } from "./language.js";
import { followPointer } from "./map_pointer.js";
import { MapTip } from "./map_tip.js";

const SCALE_PIXELS = 110;

export class MapPanel {
  constructor(root, model) {
    this.root = root;
    this.model = model;
    const canvas = root.querySelector("canvas");
    this.map = new CityMap(canvas, {
      onHover: (site) => this.hover(site),
      onChoose: (site) => model.choose(site?.site_id ?? null),
      onPaint: () => this.showScale(),
    });
    this.tip = new MapTip(root.querySelector("[data-tip]"), this.map);
    this.scale = root.querySelector("[data-scale]");
    this.buttons();
    followPointer(this.map);
  }

  buttons() {
    const { view } = this.map;
    const act = { in: () => view.zoomAt(1.5), out: () => view.zoomAt(1 / 1.5), all: () => view.reset() };
    for (const [name, change] of Object.entries(act)) {
      this.root.querySelector(`[data-zoom="${name}"]`).addEventListener("click", () => {
        change();
        this.map.draw();
      });
    }
  }

  hover(site) {
    this.map.setHovered(site?.site_id ?? null);
    this.map.canvas.classList.toggle("pointing", site !== null);
    this.tip.show(site);
  }

  show() {
    const { city, orders, chosenSiteId } = this.model;
    if (!city) return;
    this.map.setCity(city);
    this.map.setOrders(orders);
    this.map.setChosen(chosenSiteId);
    this.map.canvas.setAttribute("aria-label", t("map.label", { sites: city.sites.length }));
  }

  showScale() {
    const { km, pixels } = this.map.view.scaleBar(SCALE_PIXELS);
    this.scale.style.setProperty("width", `${pixels}px`);
    this.scale.textContent = km < 1 ? t("map.metres", { metres: Math.round(km * 1000) }) : t("map.km", { km });
  }
}
