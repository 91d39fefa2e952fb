// Runs the checks of scripts/tidy over a repository.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { edgesReport } from './edges-report.mjs';
import { openTree } from './tree.mjs';
import { arrows } from './checks/arrows.mjs';
import { circles } from './checks/circles.mjs';
import { citations } from './checks/citations.mjs';
import { clones } from './checks/clones.mjs';
import { connections } from './checks/connections.mjs';
import { decisions } from './checks/decisions.mjs';
import { engines } from './checks/engines.mjs';
import { ground } from './checks/ground.mjs';
import { hub } from './checks/hub.mjs';
import { requiredFiles } from './checks/required.mjs';
import { snapshots } from './checks/snapshots.mjs';
import { text } from './checks/text.mjs';

const checks = [
  ...[text, engines, connections, decisions, requiredFiles, snapshots, citations, arrows, circles, ground, hub],
  clones,
];

export function main(args) {
  const { repo, edges } = options(args);
  if (edges) {
    console.log(edgesReport(openTree(repo), edges));
    return;
  }
  const { findings, summary } = inspect(repo);
  for (const it of findings) console.log(it);
  console.log(summary);
  process.exitCode = findings.length ? 1 : 0;
}

/** What every check finds in a repository, a line each, and the figures of those that count. */
export function inspect(repo) {
  const tree = openTree(repo);
  const findings = [];
  const find = (file, line, text) => findings.push(`${file}${line ? `:${line}` : ''}: ${text}`);
  const figures = checks.map((check) => check(tree, find)).filter(Boolean);
  const summary = [`${tree.files.length} files, ${findings.length} findings`, ...figures].join('; ');
  return { findings, summary };
}

function options(args) {
  const found = { repo: fileURLToPath(new URL('../../..', import.meta.url)), edges: undefined };
  for (let at = 0; at < args.length; at += 2) {
    const value = args[at + 1];
    if (!value) throw new Error(`${args[at]} needs a value`);
    if (args[at] === '--repo') found.repo = resolve(value);
    else if (args[at] === '--edges') found.edges = value.replace(/\/$/, '');
    else throw new Error(`no option is called ${args[at]}: --repo, --edges`);
  }
  return found;
}
