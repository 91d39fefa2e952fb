// `scripts/tidy --edges FOLDER`: who uses whom in a crate or a web package, for a reader who moves things.
import { arrowsTable, placeOf } from './arrows-table.mjs';
import { fileCircles } from './checks/circles.mjs';
import { rustEdges } from './rust-edges.mjs';
import { webEdges } from './web-edges.mjs';

export function edgesReport(tree, folder) {
  const table = arrowsTable(tree);
  const under = (it) => it.from.startsWith(`${folder}/`) && it.to.startsWith(`${folder}/`);
  const short = (file) => file.slice(folder.length + 1).replace(/^src\//, '');
  const place = (file) => short(placeOf(tree, table, file) ?? `${folder}/src/(ground)`);
  const web = webEdges(tree).filter(under);
  const files = [...rustEdges(tree).files.filter(under), ...web];
  const paths = [...rustEdges(tree).paths.filter(under), ...web];
  const lines = [`# Folders of ${folder}`];
  const between = grouped(
    paths.filter((it) => place(it.from) !== place(it.to)),
    (it) => `${place(it.from)} -> ${place(it.to)}`,
  );
  for (const [key, uses] of between) {
    const samples = [...new Set(uses.map((it) => `${short(it.from)}:${it.line} ${it.what}`))];
    lines.push(`${key} (${samples.length})`, ...samples.slice(0, 5).map((it) => `    ${it}`));
    if (samples.length > 5) lines.push('    …');
  }
  lines.push('', `# Files of ${folder}`);
  const direct = grouped(files, (it) => `${short(it.from)} -> ${short(it.to)}`);
  for (const [key, uses] of direct) {
    const names = [...new Set(uses.map((it) => `${it.what} ${it.line}`))];
    lines.push(`${key}  ${names.slice(0, 6).join(', ')}${names.length > 6 ? ', …' : ''}`);
  }
  lines.push('', `# Circles of ${folder}`);
  for (const circle of fileCircles(tree).filter((it) => it.files[0].startsWith(`${folder}/`))) lines.push(circle.text);
  return lines.join('\n');
}

function grouped(list, key) {
  const groups = new Map();
  for (const it of list) groups.set(key(it), [...(groups.get(key(it)) ?? []), it]);
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}
