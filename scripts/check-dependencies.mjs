#!/usr/bin/env node
// Checks everything that is depended on: licences, known advisories, yanked versions.
//
//   scripts/check-dependencies.mjs [--json]
//
// It stands where `cargo deny` would: that tool's advisory database is not on a package registry, and this
// check works with nothing but crates.io (decision 3). Crates: every one of Cargo.lock, tests and build
// included. npm: what web/ ships; the tools that build it and the test folders are not carried by the program.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allowed, hit } from './lib/licence-and-version.mjs';

process.chdir(resolve(dirname(fileURLToPath(import.meta.url)), '..'));
const rules = readJson('scripts/deny.json');
const known = readJson('scripts/advisories.json');
const licences = new Set(rules.licences);
const used = new Set();
const findings = [];

const crates = readCrates();
const packages = readPackages();
for (const dependency of [...crates, ...packages]) {
  if (!dependency.licence) {
    if (!excepted(dependency, 'licence', '')) finding(dependency, 'licence', 'gives no SPDX licence');
  } else {
    let fine = false;
    try {
      fine = allowed(dependency.licence, licences);
    } catch (error) {
      finding(dependency, 'licence', error.message);
      continue;
    }
    if (!fine && !excepted(dependency, 'licence', dependency.licence))
      finding(dependency, 'licence', `${dependency.licence} is not on the list`);
  }
}
for (const dependency of [...crates, ...packages]) {
  for (const advisory of known.advisories) {
    if (advisory.name !== dependency.name || (advisory.ecosystem ?? 'crates.io') !== dependency.ecosystem) continue;
    if (hit(dependency.version, advisory.affected) && !excepted(dependency, 'advisory', advisory.id))
      finding(dependency, 'advisory', `${advisory.id}: ${advisory.title}`);
  }
}
const index = readIndex();
let unknown = 0;
for (const crate of crates.filter(({ registry }) => registry)) {
  const yanked = index(crate.name, crate.version);
  if (yanked === undefined) unknown += 1;
  else if (yanked && !excepted(crate, 'yanked', crate.version))
    finding(crate, 'yanked', 'was taken back by its authors');
}
const idle = rules.exceptions.filter((rule) => !used.has(rule)).map((rule) => rule.npm ?? rule.crate);

if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ crates: crates.length, packages: packages.length, findings, unknown, idle }));
} else {
  for (const { kind, ecosystem, name, version, text } of findings)
    console.log(`${kind}: ${ecosystem} ${name} ${version}: ${text}`);
  if (idle.length) console.log(`exceptions that nothing needs: ${idle.join(', ')}`);
  if (unknown)
    console.log(
      `${unknown} crates are not in the local registry index, so whether they were yanked is not known; cargo fetch brings it`,
    );
  console.log(
    `${crates.length} crates, ${packages.length} npm packages, ${known.advisories.length} advisories of ${known.refreshed}: ${findings.length} findings`,
  );
}
process.exit(findings.length ? 1 : 0);

function finding(dependency, kind, text) {
  findings.push({ kind, ecosystem: dependency.ecosystem, name: dependency.name, version: dependency.version, text });
}

/** Whether scripts/deny.json lets this pass; remembers that the exception was needed. */
function excepted(dependency, kind, value) {
  const key = dependency.ecosystem === 'npm' ? 'npm' : 'crate';
  const found = rules.exceptions.find((rule) => rule[key] === dependency.name && rule[kind] === value);
  if (found && !found.reason) throw new Error(`the exception for ${dependency.name} gives no reason`);
  if (found) used.add(found);
  return found !== undefined;
}

function readCrates() {
  const text = execFileSync('cargo', ['metadata', '--format-version', '1', '--locked'], {
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const metadata = JSON.parse(text);
  const ours = new Set(metadata.workspace_members);
  return metadata.packages
    .filter((crate) => !ours.has(crate.id))
    .map((crate) => ({
      ecosystem: 'crates.io',
      name: crate.name,
      version: crate.version,
      licence: crate.license ?? '',
      registry: crate.source?.startsWith('registry+') ?? false,
    }));
}

/** What web/ ships: not the workspaces themselves and nothing that only builds or tests them. */
function readPackages() {
  if (!existsSync('web/package-lock.json')) return [];
  const lock = readJson('web/package-lock.json');
  const name = (path, entry) => entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 13);
  return Object.entries(lock.packages)
    .filter(
      ([path, entry]) =>
        path.includes('node_modules/') &&
        !entry.link &&
        ((!entry.dev && !entry.devOptional) || rules.carried.includes(name(path, entry))),
    )
    .map(([path, entry]) => ({
      ecosystem: 'npm',
      name: name(path, entry),
      version: entry.version,
      licence: plain(entry.license ?? installed(path)?.license ?? installed(path)?.licenses),
    }));
}

function installed(path) {
  const file = join('web', path, 'package.json');
  return existsSync(file) ? readJson(file) : undefined;
}

/** Older packages write {type} or [{type}] where an SPDX expression stands today. */
function plain(licence) {
  if (Array.isArray(licence)) return licence.map(plain).join(' OR ');
  return typeof licence === 'object' && licence !== null ? (licence.type ?? '') : (licence ?? '');
}

/** Looks a version up in the index files that cargo keeps: true when yanked, undefined when not there. */
function readIndex() {
  const base = join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'registry', 'index');
  const roots = existsSync(base)
    ? readdirSync(base)
        .map((registry) => join(base, registry, '.cache'))
        .filter(existsSync)
    : [];
  return (name, version) => {
    const lower = name.toLowerCase();
    const folder =
      lower.length < 3
        ? `${lower.length}`
        : lower.length === 3
          ? `3/${lower[0]}`
          : `${lower.slice(0, 2)}/${lower.slice(2, 4)}`;
    for (const root of roots) {
      const file = join(root, folder, lower);
      if (!existsSync(file)) continue;
      // A short binary header, then version and JSON by turns, each closed by a zero byte.
      for (const piece of readFileSync(file, 'utf8').split('\0')) {
        if (!piece.startsWith('{')) continue;
        const entry = JSON.parse(piece);
        if (entry.vers === version) return entry.yanked === true;
      }
    }
    return undefined;
  };
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
