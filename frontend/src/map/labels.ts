// Names on the map: drawn with a halo, and left out where they would cover another.
import type { Point } from "./places";

const FAMILY =
  '"Segoe UI", Roboto, "Helvetica Neue", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", Arial, sans-serif';
const MOST_CHARACTERS = 26;

export interface LabelStyle {
  readonly colour: string;
  readonly halo: string;
  readonly size?: number;
  readonly weight?: number;
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export class Labels {
  readonly #ctx: CanvasRenderingContext2D;
  readonly #taken: Box[] = [];

  constructor(ctx: CanvasRenderingContext2D) {
    this.#ctx = ctx;
  }

  // To the right of a point, or to its left where it would leave the map. Whether it was drawn.
  drawBeside(name: string, { x, y }: Point, distance: number, mostX: number, style: LabelStyle): boolean {
    const text = shortened(name);
    const width = this.#widthOf(text, style);
    return this.#draw(text, x + distance + width > mostX ? x - distance - width : x + distance, y, width, style);
  }

  drawCentred(name: string, { x, y }: Point, style: LabelStyle): boolean {
    const width = this.#widthOf(name, style);
    return this.#draw(name, x - width / 2, y, width, style);
  }

  #widthOf(text: string, { size = 11, weight = 600 }: LabelStyle): number {
    this.#ctx.font = `${weight} ${size}px ${FAMILY}`;
    return this.#ctx.measureText(text).width;
  }

  #draw(text: string, left: number, y: number, width: number, { colour, halo, size = 11 }: LabelStyle): boolean {
    const box = { left: left - 3, right: left + width + 3, top: y - size * 0.8, bottom: y + size * 0.8 };
    if (this.#taken.some((other) => overlaps(box, other))) return false;
    this.#taken.push(box);
    const ctx = this.#ctx;
    ctx.textBaseline = "middle";
    ctx.lineJoin = "round";
    ctx.lineWidth = 3.5;
    ctx.strokeStyle = halo;
    ctx.strokeText(text, left, y);
    ctx.fillStyle = colour;
    ctx.fillText(text, left, y);
    return true;
  }
}

function overlaps(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

function shortened(name: string): string {
  return name.length > MOST_CHARACTERS ? `${name.slice(0, MOST_CHARACTERS - 1)}…` : name;
}
