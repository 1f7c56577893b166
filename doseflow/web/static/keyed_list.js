// Fills a list so that an item that stays keeps its element: focus, hover and scroll survive every update.
export function fillKeyed(container, items, keyOf, make, update) {
  const known = container.keyedChildren ?? new Map();
  const next = new Map();
  let before = container.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    const node = known.get(key) ?? make(item);
    update(node, item);
    next.set(key, node);
    if (node === before) before = before.nextElementSibling;
    else container.insertBefore(node, before);
  }
  for (const [key, node] of known) if (!next.has(key)) node.remove();
  container.keyedChildren = next;
}
