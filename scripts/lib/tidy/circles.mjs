// Circles in a graph of uses.

/** The strongly connected components of more than one node. `next` maps a node to the nodes it uses. */
export function components(next) {
  const found = [];
  const index = new Map();
  const low = new Map();
  const stack = [];
  const isOpen = new Set();
  for (const start of next.keys()) if (!index.has(start)) visit(start);
  return found;

  function visit(node) {
    index.set(node, index.size);
    low.set(node, index.get(node));
    stack.push(node);
    isOpen.add(node);
    for (const it of next.get(node) ?? []) {
      if (!index.has(it)) visit(it);
      if (isOpen.has(it)) low.set(node, Math.min(low.get(node), low.get(it)));
    }
    if (low.get(node) !== index.get(node)) return;
    const component = stack.splice(stack.indexOf(node));
    for (const it of component) isOpen.delete(it);
    if (component.length > 1) found.push(component);
  }
}

/** Shortest circles that together pass every node of a component, each as its nodes in order. */
export function shortestCircles(component, next) {
  const inside = new Set(component);
  const seen = new Set();
  const circles = [];
  for (const start of [...component].sort()) {
    if (seen.has(start)) continue;
    const circle = circleThrough(start, inside, next);
    circles.push(circle);
    for (const it of circle) seen.add(it);
  }
  return circles.sort((a, b) => a.length - b.length);
}

function circleThrough(start, inside, next) {
  const from = new Map();
  const queue = [start];
  for (const node of queue)
    for (const it of next.get(node) ?? []) {
      if (!inside.has(it)) continue;
      if (it === start) {
        const circle = [node];
        while (circle[0] !== start) circle.unshift(from.get(circle[0]));
        return circle;
      }
      if (!from.has(it)) {
        from.set(it, node);
        queue.push(it);
      }
    }
  return [start];
}
