// Where advisories on crates and npm packages come from, and which versions they are about: the RustSec
// database, `npm audit`, and scripts/advisories.json where those can't be had. Tested by
// scripts/lib/advisories.test.mjs; used by scripts/check-dependencies.mjs.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { compare } from './licence-and-version.mjs';

const run = promisify(execFile);
const PATIENCE_MS = 90_000;

export const RUSTSEC = 'https://github.com/RustSec/advisory-db.git';

/**
 * Brings the RustSec database from its address into a folder, or up to date there. A folder from an earlier run serves
 * when the address can't be reached.
 * @param {string} url of a git repository
 * @param {string} folder
 * @returns {Promise<{ folder?: string, problem?: string }>} `problem` says why nothing new was had
 */
export async function fetchRustSec(url, folder) {
  const env = { ...process.env, GIT_TERMINAL_PROMPT: '0' };
  const git = (...args) =>
    run('git', ['-c', 'http.lowSpeedLimit=1000', '-c', 'http.lowSpeedTime=15', ...args], { env, timeout: PATIENCE_MS });
  const isHere = existsSync(join(folder, '.git'));
  try {
    if (isHere) {
      await git('-C', folder, 'fetch', '--quiet', '--depth', '1', url, 'HEAD');
      await git('-C', folder, 'reset', '--quiet', '--hard', 'FETCH_HEAD');
    } else {
      mkdirSync(dirname(folder), { recursive: true });
      await git('clone', '--quiet', '--depth', '1', url, folder);
    }
    return { folder };
  } catch (error) {
    const problem = `${url} could not be reached (${lastLine(error.stderr) || error.message})`;
    return isHere ? { folder, problem } : { problem };
  }
}

/**
 * The advisories of a copy of the RustSec database on the named crates, and the day of the copy where git knows it.
 * @param {string} folder
 * @param {Iterable<string>} names
 * @returns {Promise<{ date: string, advisories: Advisory[] }>}
 */
export async function readRustSec(folder, names) {
  if (!existsSync(join(folder, 'crates'))) throw new Error(`${folder} is no copy of the RustSec database: no crates/`);
  const advisories = [];
  for (const name of new Set(names)) {
    const place = join(folder, 'crates', name);
    if (!existsSync(place)) continue;
    for (const file of readdirSync(place).filter((it) => /^RUSTSEC-\d+-\d+\.md$/.test(it)))
      advisories.push(readAdvisory(readFileSync(join(place, file), 'utf8'), join(place, file)));
  }
  const date = await run('git', ['-C', folder, 'log', '-1', '--format=%cs']).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
  return { date, advisories };
}

/**
 * @typedef {object} Advisory
 * @property {string} id
 * @property {string} name
 * @property {string} title
 * @property {string[]} safe      requirements; a version that meets one of them is not concerned
 * @property {boolean} withdrawn
 * @property {string} informational  `unmaintained`, `unsound`, `notice`; empty for a weakness
 */

/**
 * An advisory as the database has it: Markdown with TOML in front.
 * @param {string} text
 * @param {string} where
 * @returns {Advisory}
 */
export function readAdvisory(text, where) {
  const [, head, body] = /^```toml\n([\s\S]*?)\n```([\s\S]*)$/.exec(text) ?? [];
  if (head === undefined) throw new Error(`${where}: an advisory begins with a block of TOML`);
  const values = readToml(head);
  const one = (key) => values.get(key)?.[0] ?? '';
  const [id, name] = [one('advisory.id'), one('advisory.package')];
  if (!id || !name || !values.has('versions.patched'))
    throw new Error(`${where}: an advisory has id, package and versions.patched`);
  return {
    id,
    name,
    title: /^# *(.+)$/m.exec(body)?.[1].trim() ?? id,
    safe: [...(values.get('versions.patched') ?? []), ...(values.get('versions.unaffected') ?? [])],
    withdrawn: values.has('advisory.withdrawn'),
    informational: one('advisory.informational'),
  };
}

/** Whether an advisory is about this version. @param {Advisory} advisory @param {string} version */
export const concerns = (advisory, version) =>
  !advisory.withdrawn && !advisory.safe.some((requirement) => satisfies(version, requirement));

/** Texts and lists of texts by `table.key`; other values count as there and are not read. */
function readToml(text) {
  const values = new Map();
  let table = '';
  const lines = text.split('\n');
  for (let i = 0; i < lines.length; i += 1) {
    const heading = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(lines[i]);
    if (heading) table = `${heading[1].trim()}.`;
    const [, key, first] = /^\s*([\w-]+)\s*=\s*(.*)$/.exec(lines[i]) ?? [];
    if (key === undefined) continue;
    let value = first;
    const isOpen = () => value.startsWith('[') && !/\]\s*(?:#.*)?$/.test(value);
    while (isOpen() && i + 1 < lines.length) value += `\n${lines[(i += 1)].replace(/^\s*#.*$/, '')}`;
    values.set(
      table + key,
      [...value.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g)].map(([, basic, literal]) => basic ?? literal),
    );
  }
  return values;
}

/**
 * Whether a version meets a requirement in cargo's language: `>= 1.2, < 1.4`, `^0.3.1`, `~1.2`, `=1.2.3`, `1.*`. A
 * pre-release stands before its release and is nothing special otherwise.
 * @param {string} version
 * @param {string} requirement
 */
export function satisfies(version, requirement) {
  return requirement.split(',').every((part) => {
    const [, sign = '', text = ''] =
      /^\s*(>=|<=|>|<|=|\^|~)?\s*v?(\*|\d+(?:\.(?:\d+|\*)){0,2}(?:-[\w.-]+)?(?:\+[\w.-]+)?)\s*$/.exec(part) ?? [];
    if (!text) throw new Error(`not a version requirement: ${requirement}`);
    const numbers = text
      .split(/[-+]/)[0]
      .split('.')
      .filter((it) => it !== '*')
      .map(Number);
    if (numbers.length === 0) return true;
    const from = numbers.length === 3 ? text : [0, 1, 2].map((at) => numbers[at] ?? 0).join('.');
    /** The first version in which the number at `at` is another. */
    const next = (at) => [0, 1, 2].map((it) => (it < at ? numbers[it] : it === at ? numbers[it] + 1 : 0)).join('.');
    const last = numbers.length - 1;
    const isWhole = numbers.length === 3;
    const leading = numbers.findIndex((it) => it > 0);
    const [least, end] = {
      '>=': [from, null],
      '<': [null, from],
      '>': isWhole ? [null, null] : [next(last), null],
      '<=': isWhole ? [null, null] : [null, next(last)],
      '=': isWhole ? [null, null] : [from, next(last)],
      '~': [from, next(Math.min(last, 1))],
      '^': [from, next(leading === -1 ? last : leading)],
      '': [from, next(text.includes('*') ? last : leading === -1 ? last : leading)],
    }[sign];
    const order = compare(version, from);
    if (isWhole && sign === '>') return order > 0;
    if (isWhole && sign === '<=') return order <= 0;
    if (isWhole && sign === '=') return order === 0;
    return (least === null || compare(version, least) >= 0) && (end === null || compare(version, end) < 0);
  });
}

/**
 * What `npm audit` says of a folder's lock file, tools that only build or test included.
 * @param {string} folder
 * @returns {Promise<{ found: { name: string, version: string, id: string, title: string }[], problem?: string }>}
 *   `problem` says why the registry gave no answer
 */
export async function npmAudit(folder) {
  const args = ['audit', '--json', '--package-lock-only', '--fetch-retries=0', '--fetch-timeout=30000'];
  const { stdout, stderr, message } = await run('npm', args, {
    cwd: folder,
    maxBuffer: 1 << 26,
    timeout: PATIENCE_MS,
  }).catch((error) => error);
  let report;
  try {
    report = JSON.parse(stdout);
  } catch {
    report = {};
  }
  if (report.vulnerabilities) return { found: readAudit(report) };
  return { found: [], problem: firstLine(report.message) || lastLine(stderr) || message || 'npm gave no report' };
}

/** Each advisory once for each package, from the second form of npm's report. */
export function readAudit(report) {
  const found = new Map();
  for (const { via } of Object.values(report.vulnerabilities))
    for (const it of via) {
      // A name stands for "through that package", which has a row of its own.
      if (typeof it === 'string') continue;
      const id = /GHSA-[\w-]+/.exec(it.url ?? '')?.[0] ?? String(it.source);
      found.set(`${it.name} ${id}`, { name: it.name, version: it.range, id, title: it.title });
    }
  return [...found.values()];
}

const lines = (text) => (text ?? '').split('\n').filter((it) => it.trim());
const firstLine = (text) => lines(text)[0];
const lastLine = (text) => lines(text).at(-1);
