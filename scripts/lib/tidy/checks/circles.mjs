// No circle of files: what uses each other in a ring can only be read, tested and moved as one.
import { arrowsTable } from '../arrows-table.mjs';
import { components, shortestCircles } from '../circles.mjs';
import { rustEdges } from '../rust-edges.mjs';
import { webEdges } from '../web-edges.mjs';

export function circles(tree, find) {
  for (const it of fileCircles(tree)) find(it.files[0], it.line, it.text);
}

/** Shortest circles, so many that every file in one is named: `{ files, line, text }`. */
export function fileCircles(tree) {
  const exceptions = arrowsTable(tree).exceptions;
  const next = new Map();
  const uses = new Map();
  for (const it of [...rustEdges(tree).files, ...webEdges(tree)]) {
    // What tests share is theirs to arrange.
    if (it.kind === 'tests' || exceptions.has(it.from)) continue;
    if (!next.has(it.from)) next.set(it.from, new Set());
    next.get(it.from).add(it.to);
    const key = `${it.from} ${it.to}`;
    if (!uses.has(key) || uses.get(key).line > it.line) uses.set(key, it);
  }
  return components(next).flatMap((component) =>
    shortestCircles(component, next).map((files) => {
      const steps = files.map((from, at) => uses.get(`${from} ${files[(at + 1) % files.length]}`));
      const path = steps.map((it) => `${it.from}:${it.line} (${it.what}) -> `).join('');
      const others = component.length - files.length;
      const rest = others ? `; ${component.length} files are in circles with each other` : '';
      return { files, line: steps[0].line, text: `a circle of files: ${path}${files[0]}${rest}` };
    }),
  );
}
