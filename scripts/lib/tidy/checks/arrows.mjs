// Who may use whom: every use between crates, between the folders of a crate, and under web/, against the table
// of ARCHITECTURE.md.
import { arrowsTable, groundOf, page, placeOf } from '../arrows-table.mjs';
import { components, shortestCircles } from '../circles.mjs';
import { cratesOf } from '../rust-crates.mjs';
import { rustEdges } from '../rust-edges.mjs';
import { isWebTest, packagesOf, webEdges } from '../web-edges.mjs';

export function arrows(tree, find) {
  const table = arrowsTable(tree);
  if (!table.isThere) return find(page, 0, 'has no block of code marked `arrows`');
  for (const it of table.problems) find(page, it.line, it.text);
  const used = new Set();
  const refused = new Set();
  const refuse = (it, from, to, what) => {
    if (from === to) return;
    if (table.uses.get(from)?.names.includes(to)) used.add(`${from} ${to}`);
    else if (!refused.has(`${it.from} ${from} ${to}`))
      find(it.from, it.line, `${what ?? it.what}: ${from} may not use ${to}`);
    // Once a file.
    refused.add(`${it.from} ${from} ${to}`);
  };

  places(tree, table, find);
  order(table, find);
  for (const it of rustEdges(tree).paths) between(it, tree, table, refuse);
  for (const it of webEdges(tree)) {
    const [from, to] = [it.from, it.to].map((file) => /^web\/\w+\/[^/]+/.exec(file)[0]);
    if (from === to) between(it, tree, table, refuse);
    else refuse(it, from, to);
  }
  crates(tree, table, refuse);
  packages(tree, refuse);
  for (const [place, { line, names }] of table.uses)
    for (const name of names)
      if (table.uses.has(name) && !used.has(`${place} ${name}`))
        find(page, line, `${place} may use ${name} and does not: take the arrow away`);
}

/** Folders of one crate or package. */
function between(it, tree, table, refuse) {
  if (table.exceptions.has(it.from) || /\/src\/(?:lib|main)\.(?:rs|tsx)$/.test(it.from)) return;
  const to = placeOf(tree, table, it.to);
  if (to) refuse(it, placeOf(tree, table, it.from) ?? groundOf(it.from), to);
}

/** Crates: what their manifests name and what their code uses. Tests may use all that their crate may. */
function crates(tree, table, refuse) {
  const folders = new Map(cratesOf(tree).map((it) => [it.name, it.folder]));
  const use = (crate, to, isTest, it, what) => {
    const mayAlso = to === crate.folder || table.uses.get(crate.folder)?.names.includes(to);
    if (!isTest || !crate.hasSource) refuse(it, crate.folder, to, what);
    else if (!mayAlso) refuse(it, `${crate.folder}/tests`, to, what);
  };
  for (const crate of cratesOf(tree))
    for (const { name, line, isTest } of crate.dependencies)
      if (folders.has(name)) use(crate, folders.get(name), isTest, { from: crate.manifest, line }, name);
  for (const it of rustEdges(tree).crates) use(it.crate, it.to, it.kind === 'tests', it, `a use of ${it.to}`);
}

function packages(tree, refuse) {
  const all = packagesOf(tree);
  for (const it of all)
    for (const { name, line } of it.dependencies) {
      const to = all.find((other) => other.name === name);
      if (to) refuse({ from: it.manifest, line }, it.folder, to.folder, name);
    }
}

/** Every folder has a line, and every line a folder. */
function places(tree, table, find) {
  const needed = new Set([...cratesOf(tree), ...packagesOf(tree)].map((it) => it.folder));
  for (const file of tree.files)
    if (/\.(?:rs|tsx?|mjs|js)$/.test(file) && !isWebTest(file)) {
      const place = placeOf(tree, table, file);
      if (place) needed.add(place);
    }
  for (const it of needed) if (!table.uses.has(it)) find(page, 0, `the table of arrows lacks ${it}`);
  for (const [place, { line, names }] of table.uses) {
    if (!tree.has(place) && !tree.hasFolder(place.replace(/\/\*$/, ''))) find(page, line, `${place} is not there`);
    for (const it of names) if (!table.uses.has(it)) find(page, line, `${it} has no line of its own`);
  }
  for (const [file, { line }] of table.exceptions) if (!tree.has(file)) find(page, line, `${file} is not there`);
}

/** Arrows lead one way. */
function order(table, find) {
  const next = new Map([...table.uses].map(([place, it]) => [place, it.names]));
  for (const component of components(next))
    for (const circle of shortestCircles(component, next))
      find(page, table.uses.get(circle[0]).line, `a circle of folders: ${[...circle, circle[0]].join(' -> ')}`);
}
