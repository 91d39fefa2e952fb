// Builds the data that Atlas shows: every city and country as an item, and the collections they live in.
//
// Reads the npm packages of source.mjs, writes `out/`:
//   collections.json   the collections, as `POST /v2/collections` takes them
//   cities.jsonl.gz    135,233 items, one JSON object a line, most populous first
//   countries.jsonl.gz 250 items
//   build.json         what the files were made from; when it still holds, nothing is done
// The same packages always give the same bytes. It is not part of the website: the server imports its output.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { collections } from './collections.mjs';
import { packages, readCities, readCountries, readJson } from './source.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, 'out');
const files = ['collections.json', 'cities.jsonl.gz', 'countries.jsonl.gz'];

const made = stamp();
if (upToDate(made)) {
  console.log('Atlas data is up to date.');
} else {
  build(made);
}

function build(madeFrom) {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });

  const countries = readCountries();
  const cities = readCities(countries);

  write('collections.json', `${JSON.stringify(collections, null, 2)}\n`);
  write('countries.jsonl.gz', lines(countries));
  write('cities.jsonl.gz', lines(cities));
  // Last, so that a build cut short is done again.
  write('build.json', `${JSON.stringify({ madeFrom, sha256: checksums() }, null, 2)}\n`);
  console.log(`Atlas data: ${cities.length} cities, ${countries.length} countries.`);
}

/** Versions of the packages and a checksum over the programs of this folder. */
function stamp() {
  const hash = createHash('sha256');
  const programs = readdirSync(here).filter((name) => /^[a-z-]+\.mjs$/.test(name));
  for (const name of programs.sort()) {
    hash.update(readFileSync(join(here, name)));
  }
  const versions = Object.fromEntries(packages.map((name) => [name, readJson(name, 'package.json').version]));
  return { ...versions, programs: hash.digest('hex') };
}

function upToDate(madeFrom) {
  try {
    const before = JSON.parse(readFileSync(join(out, 'build.json'), 'utf8'));
    return (
      JSON.stringify(before.madeFrom) === JSON.stringify(madeFrom) &&
      JSON.stringify(before.sha256) === JSON.stringify(checksums())
    );
  } catch {
    return false; // nothing there yet, or it was cut short
  }
}

function checksums() {
  return Object.fromEntries(
    files.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(out, name)))
        .digest('hex'),
    ]),
  );
}

function lines(items) {
  return gzipSync(items.map((item) => `${JSON.stringify(item)}\n`).join(''), { level: 9 });
}

function write(name, content) {
  writeFileSync(join(out, name), content);
}
