#!/usr/bin/env node
// Checks everything that is depended on: licences, known advisories, yanked versions (decision 3).
//
//   scripts/check-dependencies.mjs [--json] [--advisory-db DIR | --advisory-url URL]
//
// Licences: every crate of Cargo.lock, tests and build included, and the npm packages that web/ ships.
// Advisories on crates: the RustSec database, from a local copy (--advisory-db, STOA_ADVISORY_DB) or from its
// address; on npm packages: `npm audit` for every lock file. What can't be reached is told, with the names that
// were then not looked up, and fails nothing: scripts/advisories.json, an excerpt, stands in for it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { concerns, fetchRustSec, npmAudit, readRustSec, RUSTSEC } from './lib/advisories.mjs';
import { allowed, hit } from './lib/licence-and-version.mjs';

const { values: options } = parseArgs({
  options: { json: { type: 'boolean' }, 'advisory-db': { type: 'string' }, 'advisory-url': { type: 'string' } },
});
const copy = options['advisory-db'] ?? (process.env.STOA_ADVISORY_DB || undefined);
const localCopy = copy && resolve(copy);
process.chdir(resolve(dirname(fileURLToPath(import.meta.url)), '..'));
const rules = readJson('scripts/deny.json');
const excerpt = readJson('scripts/advisories.json');
const licences = new Set(rules.licences);
const used = new Set();
const findings = [];
/** What is worth reading and fails nothing. */
const notes = [];

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
const [rustsec, audits] = await Promise.all([lookUpCrates(), lookUpPackages()]);
const index = readIndex();
let unknown = 0;
for (const crate of crates.filter(({ registry }) => registry)) {
  const yanked = index(crate.name, crate.version);
  if (yanked === undefined) unknown += 1;
  else if (yanked && !excepted(crate, 'yanked', crate.version))
    finding(crate, 'yanked', 'was taken back by its authors');
}
const idle = rules.exceptions.filter((rule) => !used.has(rule)).map((rule) => rule.npm ?? rule.crate);

if (options.json) {
  const counts = { crates: crates.length, packages: packages.length };
  console.log(JSON.stringify({ ...counts, rustsec, audits, findings, notes, unknown, idle }));
} else {
  for (const { kind, ecosystem, name, version, text } of [...notes, ...findings])
    console.log(`${kind}: ${ecosystem} ${name} ${version}: ${text}`);
  if (idle.length) console.log(`exceptions that nothing needs: ${idle.join(', ')}`);
  if (unknown)
    console.log(
      `${unknown} crates are not in the local registry index, so whether they were yanked is not known; cargo fetch brings it`,
    );
  for (const { what, problem, missed } of [rustsec, ...audits].filter((it) => it.missed.length)) {
    console.log(`${what}: ${problem}; compared with the excerpt of ${excerpt.refreshed} instead.`);
    console.log(`  not looked up (${missed.length}): ${missed.join(', ')}`);
  }
  const audited = audits.filter((it) => !it.missed.length).length;
  console.log(
    `${crates.length} crates, ${packages.length} npm packages; advisories: ${rustsec.source}, npm audit of ${audited} of ${audits.length} lock files: ${findings.length} findings`,
  );
}
process.exit(findings.length ? 1 : 0);

/** Compares the crates with RustSec, or with the excerpt, and tells which of them were then not looked up. */
async function lookUpCrates() {
  const theirs = crates.filter(({ registry }) => registry);
  const url = options['advisory-url'] ?? RUSTSEC;
  const ours = resolve('target/advisory-db', createHash('sha256').update(url).digest('hex').slice(0, 8));
  const had = localCopy ? { folder: localCopy } : await fetchRustSec(url, ours);
  if (!had.folder) {
    const missed = lookUpInExcerpt(theirs);
    return { what: 'RustSec', source: `excerpt of ${excerpt.refreshed}`, problem: had.problem, missed };
  }
  const names = theirs.map(({ name }) => name);
  const { date, advisories } = await readRustSec(had.folder, names);
  for (const crate of theirs)
    for (const advisory of advisories) {
      if (advisory.name !== crate.name || !concerns(advisory, crate.version)) continue;
      const text = `${advisory.id}: ${advisory.title}`;
      if (advisory.informational) note(crate, advisory.informational, text);
      else if (!excepted(crate, 'advisory', advisory.id)) finding(crate, 'advisory', text);
    }
  const age = had.problem ? ` (${had.problem})` : '';
  return { what: 'RustSec', source: `RustSec of ${date || 'an unknown day'}${age}`, missed: [] };
}

/** `npm audit` for every lock file, tools that only build or test included. */
async function lookUpPackages() {
  const locks = execFileSync('git', ['ls-files', 'package-lock.json', '*/package-lock.json'], { encoding: 'utf8' });
  const told = new Set();
  return Promise.all(
    locks
      .trim()
      .split('\n')
      .map(async (lock) => {
        const { found, problem } = await npmAudit(dirname(lock));
        for (const { name, version, id, title } of found) {
          const dependency = { ecosystem: 'npm', name, version };
          if (told.has(`${name} ${id}`) || excepted(dependency, 'advisory', id)) continue;
          told.add(`${name} ${id}`);
          finding(dependency, 'advisory', `${id}: ${title} (${lock})`);
        }
        const missed = problem === undefined ? [] : lookUpInExcerpt(lockedPackages(readJson(lock)));
        return { what: `npm audit of ${lock}`, problem, missed };
      }),
  );
}

/** Compares with the excerpt; gives back those that it does not know, as `name version`. */
function lookUpInExcerpt(dependencies) {
  const missed = new Set();
  for (const dependency of dependencies) {
    const { ecosystem, name, version } = dependency;
    const known = excerpt.advisories.filter((it) => it.name === name && (it.ecosystem ?? 'crates.io') === ecosystem);
    if (known.length === 0) missed.add(`${name} ${version}`);
    for (const { id, affected, title } of known)
      if (hit(version, affected) && !excepted(dependency, 'advisory', id))
        finding(dependency, 'advisory', `${id}: ${title}`);
  }
  return [...missed].sort();
}

function note(dependency, kind, text) {
  notes.push({ kind, ecosystem: dependency.ecosystem, name: dependency.name, version: dependency.version, text });
}

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
  return lockedPackages(readJson('web/package-lock.json'))
    .filter(({ name, entry }) => (!entry.dev && !entry.devOptional) || rules.carried.includes(name))
    .map(({ path, entry, ...others }) => ({
      ...others,
      licence: plain(entry.license ?? installed(path)?.license ?? installed(path)?.licenses),
    }));
}

/** Every package of a lock file that comes from elsewhere. */
function lockedPackages(lock) {
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path.includes('node_modules/') && !entry.link)
    .map(([path, entry]) => ({
      ecosystem: 'npm',
      name: entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 13),
      version: entry.version,
      path,
      entry,
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
