// Mouse, touch and keys on the map: drag to move, wheel or pinch to zoom, click to choose.
import type { CityMap } from "./city_map";
import type { MapView } from "./map_view";
import type { Point } from "./places";

const DRAG_PIXELS = 4;
const KEY_STEP_PIXELS = 60;
const KEY_ZOOM = 1.4;
const KEY_MOVE: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [1, 0],
  ArrowRight: [-1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

// Returns what ends it.
export function followPointer(canvas: HTMLCanvasElement, map: CityMap): () => void {
  const pointers = new Map<number, Point>();
  const ended = new AbortController();
  const { signal } = ended;
  let travelled = 0;

  function down(event: PointerEvent): void {
    pointers.set(event.pointerId, at(event));
    travelled = 0;
    canvas.setPointerCapture(event.pointerId);
  }

  function move(event: PointerEvent): void {
    const before = pointers.get(event.pointerId);
    const after = at(event);
    if (!before) {
      map.hoverAt(after);
      return;
    }
    travelled += Math.hypot(after.x - before.x, after.y - before.y);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) pinch(map.view, before, after, other);
    else if (travelled > DRAG_PIXELS) map.view.pan(after.x - before.x, after.y - before.y);
    pointers.set(event.pointerId, after);
    map.draw();
  }

  function up(event: PointerEvent): void {
    const wasClick = event.type === "pointerup" && pointers.size === 1 && travelled <= DRAG_PIXELS;
    pointers.delete(event.pointerId);
    if (wasClick) map.chooseAt(at(event));
  }

  function wheel(event: WheelEvent): void {
    event.preventDefault();
    map.view.zoomAt(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY);
    map.draw();
  }

  function key(event: KeyboardEvent): void {
    if (!moveByKey(map.view, event.key)) return;
    event.preventDefault();
    map.draw();
  }

  canvas.addEventListener("pointerdown", down, { signal });
  canvas.addEventListener("pointermove", move, { signal });
  canvas.addEventListener("pointerup", up, { signal });
  canvas.addEventListener("pointercancel", up, { signal });
  canvas.addEventListener("pointerleave", () => map.hoverAt(null), { signal });
  canvas.addEventListener("wheel", wheel, { passive: false, signal });
  canvas.addEventListener("keydown", key, { signal });
  return () => ended.abort();
}

function moveByKey(view: MapView, key: string): boolean {
  const move = KEY_MOVE[key];
  if (move) view.pan(move[0] * KEY_STEP_PIXELS, move[1] * KEY_STEP_PIXELS);
  else if (key === "+" || key === "=") view.zoomAt(KEY_ZOOM);
  else if (key === "-") view.zoomAt(1 / KEY_ZOOM);
  else if (key === "0") view.reset();
  else return false;
  return true;
}

function at(event: PointerEvent): Point {
  return { x: event.offsetX, y: event.offsetY };
}

function pinch(view: MapView, before: Point, after: Point, other: Point): void {
  const distance = Math.hypot(before.x - other.x, before.y - other.y);
  const factor = Math.hypot(after.x - other.x, after.y - other.y) / Math.max(1, distance);
  view.zoomAt(factor, (after.x + other.x) / 2, (after.y + other.y) / 2);
}
