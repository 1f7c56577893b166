// Mouse, touch and keys on the map: drag to move, wheel or pinch to zoom, click to choose.
const DRAG_PIXELS = 4;
const KEY_STEP_PIXELS = 60;
const KEY_TO_MOVE = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export function followPointer(map) {
  const { canvas, view } = map;
  const pointers = new Map();
  let travelled = 0;

  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, at(event));
    travelled = 0;
    canvas.setPointerCapture(event.pointerId);
  });

  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return hover(map, event);
    const after = at(event);
    travelled += Math.hypot(after.x - before.x, after.y - before.y);
    if (pointers.size === 1) {
      if (travelled > DRAG_PIXELS) view.pan(after.x - before.x, after.y - before.y);
    } else {
      pinch(view, pointers, event.pointerId, after);
    }
    pointers.set(event.pointerId, after);
    map.draw();
  });

  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => {
      const wasClick = name === "pointerup" && pointers.size === 1 && travelled <= DRAG_PIXELS;
      pointers.delete(event.pointerId);
      if (!wasClick) return;
      const { x, y } = at(event);
      map.onChoose(map.siteAt(x, y));
    });
  }

  canvas.addEventListener("pointerleave", () => map.onHover(null));

  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const { x, y } = at(event);
      view.zoomAt(Math.exp(-event.deltaY * 0.0015), x, y);
      map.draw();
    },
    { passive: false },
  );

  canvas.addEventListener("keydown", (event) => {
    const move = KEY_TO_MOVE[event.key];
    if (move) view.pan(move[0] * KEY_STEP_PIXELS, move[1] * KEY_STEP_PIXELS);
    else if (event.key === "+" || event.key === "=") view.zoomAt(1.4);
    else if (event.key === "-") view.zoomAt(1 / 1.4);
    else if (event.key === "0") view.reset();
    else return;
    event.preventDefault();
    map.draw();
  });
}

function at(event) {
  return { x: event.offsetX, y: event.offsetY };
}

function hover(map, event) {
  map.onHover(map.siteAt(event.offsetX, event.offsetY));
}

function pinch(view, pointers, movedId, after) {
  const other = [...pointers].find(([id]) => id !== movedId)[1];
  const before = pointers.get(movedId);
  const factor = Math.hypot(after.x - other.x, after.y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
  view.zoomAt(factor, (after.x + other.x) / 2, (after.y + other.y) / 2);
}
