// The ground, drawn once for a view at rest and only moved and stretched while the view moves.
import type { Colours } from "../theme/colours";
import type { Land } from "./land";
import type { MapView } from "./map_view";

const REST_MILLISECONDS = 140;

interface Drawn {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export class GroundLayer {
  readonly #canvas = document.createElement("canvas");
  readonly #onRest: () => void;
  #drawn: Drawn | null = null;
  #timer = 0;

  constructor(onRest: () => void) {
    this.#onRest = onRest;
  }

  forget(): void {
    this.#drawn = null;
  }

  end(): void {
    window.clearTimeout(this.#timer);
  }

  paint(ctx: CanvasRenderingContext2D, view: MapView, land: Land, colours: Colours, ratio: number): void {
    const { width, height } = view;
    const wanted: Drawn = { scale: view.scale, x: view.centreX, y: view.centreY, width, height };
    let drawn = this.#drawn;
    if (drawn === null || drawn.width !== width || drawn.height !== height)
      drawn = this.#render(wanted, land, colours, ratio);
    else if (drawn.scale !== wanted.scale || drawn.x !== wanted.x || drawn.y !== wanted.y) this.#renderAtRest();
    const grown = wanted.scale / drawn.scale;
    const left = (drawn.x - wanted.x) * wanted.scale + (width / 2) * (1 - grown);
    const top = (drawn.y - wanted.y) * wanted.scale + (height / 2) * (1 - grown);
    ctx.drawImage(this.#canvas, left, top, width * grown, height * grown);
  }

  #renderAtRest(): void {
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      this.forget();
      this.#onRest();
    }, REST_MILLISECONDS);
  }

  #render(wanted: Drawn, land: Land, colours: Colours, ratio: number): Drawn {
    window.clearTimeout(this.#timer);
    this.#canvas.width = Math.round(wanted.width * ratio);
    this.#canvas.height = Math.round(wanted.height * ratio);
    this.#drawn = wanted;
    const ctx = this.#canvas.getContext("2d");
    if (!ctx) return wanted;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.translate(wanted.width / 2, wanted.height / 2);
    ctx.scale(wanted.scale, wanted.scale);
    ctx.translate(-wanted.x, -wanted.y);
    ctx.lineWidth = 3 / wanted.scale;
    ctx.strokeStyle = colours["land-edge"];
    ctx.stroke(land.ground);
    ctx.fillStyle = colours.land;
    ctx.fill(land.ground);
    // What is opaque now is land, and only there the lines belong.
    ctx.globalCompositeOperation = "source-atop";
    ctx.lineWidth = 1 / wanted.scale;
    ctx.strokeStyle = colours["border-line"];
    ctx.stroke(land.borders);
    return wanted;
  }
}
