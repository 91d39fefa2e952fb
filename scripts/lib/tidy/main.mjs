// Runs the checks of scripts/tidy over a repository.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { edgesReport } from './edges-report.mjs';
import { openTree } from './tree.mjs';
import { arrows } from './checks/arrows.mjs';
import { circles } from './checks/circles.mjs';
import { citations } from './checks/citations.mjs';
import { clones } from './checks/clones.mjs';
import { decisions } from './checks/decisions.mjs';
import { engines } from './checks/engines.mjs';
import { ground } from './checks/ground.mjs';
import { hub } from './checks/hub.mjs';
import { requiredFiles } from './checks/required.mjs';
import { snapshots } from './checks/snapshots.mjs';
import { text } from './checks/text.mjs';

const checks = [text, engines, decisions, requiredFiles, snapshots, citations, arrows, circles, ground, hub, clones];

export function main(args) {
  let repo = fileURLToPath(new URL('../../..', import.meta.url));
  let edges;
  for (let at = 0; at < args.length; at += 1) {
    if (args[at] === '--repo') repo = resolve(args[(at += 1)]);
    else if (args[at] === '--edges') edges = args[(at += 1)].replace(/\/$/, '');
  }
  const tree = openTree(repo);
  if (edges) {
    console.log(edgesReport(tree, edges));
    return;
  }
  const findings = [];
  const figures = checks.map((check) =>
    check(tree, (file, line, text) => findings.push(`${file}${line ? `:${line}` : ''}: ${text}`)),
  );
  for (const it of findings) console.log(it);
  console.log(`${tree.files.length} files, ${findings.length} findings; ${figures.filter(Boolean).join('; ')}`);
  process.exitCode = findings.length ? 1 : 0;
}
