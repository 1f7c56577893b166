// Names on the map: drawn with a halo, and left out where they would cover another.
const FAMILY = '"Inter", "Segoe UI", Roboto, "Helvetica Neue", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", Arial, sans-serif';

export class Labels {
  constructor(ctx) {
    this.ctx = ctx;
    this.taken = [];
  }

  // To the right of a point, or to its left where it would leave the map.
  drawBeside(text, { x, y }, distance, style) {
    this.setFont(style);
    const isTooFarRight = x + distance + this.ctx.measureText(text).width > style.most;
    const left = isTooFarRight ? x - distance - this.ctx.measureText(text).width : x + distance;
    return this.draw(text, left, y, style);
  }

  setFont({ size = 11, weight = 600, spacing = "0px" }) {
    this.ctx.font = `${weight} ${size}px ${FAMILY}`;
    this.ctx.letterSpacing = spacing;
  }

  // Whether it was drawn.
  draw(text, x, y, { colour, halo, size = 11, weight = 600, isCentred = false, spacing = "0px" }) {
    const { ctx } = this;
    this.setFont({ size, weight, spacing });
    ctx.textBaseline = "middle";
    const width = ctx.measureText(text).width;
    const left = isCentred ? x - width / 2 : x;
    const box = { left: left - 3, right: left + width + 3, top: y - size * 0.8, bottom: y + size * 0.8 };
    if (this.taken.some((other) => overlaps(box, other))) return false;
    this.taken.push(box);
    ctx.lineJoin = "round";
    ctx.lineWidth = 3.5;
    ctx.strokeStyle = halo;
    ctx.strokeText(text, left, y);
    ctx.fillStyle = colour;
    ctx.fillText(text, left, y);
    return true;
  }
}

function overlaps(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
