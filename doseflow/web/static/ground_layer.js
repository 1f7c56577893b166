// The ground as a kept picture: while the map moves the picture moves with it, and it is drawn anew when the map rests.
const REST_MILLISECONDS = 140;

export class GroundLayer {
  constructor(onRest) {
    this.onRest = onRest;
    this.canvas = document.createElement("canvas");
    this.ctx = this.canvas.getContext("2d");
    this.drawnFor = null;
    this.timer = null;
  }

  forget() {
    this.drawnFor = null;
  }

  paint(ctx, view, land, colours, ratio) {
    const wanted = { scale: view.scale, x: view.centreX, y: view.centreY, width: view.width, height: view.height };
    const drawn = this.drawnFor;
    const fits = drawn && drawn.width === wanted.width && drawn.height === wanted.height;
    if (!fits) this.render(wanted, land, colours, ratio);
    else if (drawn.scale !== wanted.scale || drawn.x !== wanted.x || drawn.y !== wanted.y) this.renderAtRest();
    const { scale, x, y } = this.drawnFor;
    const grown = wanted.scale / scale;
    const left = (x - wanted.x) * wanted.scale + (view.width / 2) * (1 - grown);
    const top = (y - wanted.y) * wanted.scale + (view.height / 2) * (1 - grown);
    ctx.drawImage(this.canvas, left, top, view.width * grown, view.height * grown);
  }

  renderAtRest() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.forget();
      this.onRest();
    }, REST_MILLISECONDS);
  }

  render(wanted, land, colours, ratio) {
    const { canvas, ctx } = this;
    clearTimeout(this.timer);
    canvas.width = Math.round(wanted.width * ratio);
    canvas.height = Math.round(wanted.height * ratio);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.translate(wanted.width / 2, wanted.height / 2);
    ctx.scale(wanted.scale, wanted.scale);
    ctx.translate(-wanted.x, -wanted.y);
    ctx.lineWidth = 3 / wanted.scale;
    ctx.strokeStyle = colours.landEdge;
    ctx.stroke(land.ground);
    ctx.fillStyle = colours.land;
    ctx.fill(land.ground);
    // What is opaque now is land, and only there the lines belong.
    ctx.globalCompositeOperation = "source-atop";
    ctx.lineWidth = 1 / wanted.scale;
    ctx.strokeStyle = colours.border;
    ctx.stroke(land.borders);
    this.drawnFor = wanted;
  }
}
