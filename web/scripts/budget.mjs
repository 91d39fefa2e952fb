/* Fails when the JavaScript that the first page loads, compressed, is larger than its budget.
 * Usage: budget.mjs DIST KILOBYTES. Counted: the entry, what it imports and preloads, and the largest
 * language file, each as gzip; code that is fetched later on demand is printed and not counted. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const [dist, limit] = [process.argv[2], Number(process.argv[3])];
if (!dist || !(limit > 0)) throw new Error('usage: budget.mjs DIST KILOBYTES');

const html = readFileSync(join(dist, 'index.html'), 'utf8');
const assets = join(dist, 'assets');
const first = new Set([...html.matchAll(/(?:src|href)="[^"]*\/assets\/([^"]+\.js)"/g)].map((it) => it[1]));
for (const file of first) {
  const source = readFileSync(join(assets, file), 'utf8');
  for (const [, name] of source.matchAll(/(?:^|[;}\s])(?:import|export)[^;'"()]*["']\.\/([^"']+\.js)["']/g))
    first.add(name);
}
const sizes = new Map(
  readdirSync(assets)
    .filter((it) => it.endsWith('.js'))
    .map((file) => {
      const bytes = readFileSync(join(assets, file));
      return [file, { gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotliCompressSync(bytes).length }];
    }),
);
const later = [...sizes.keys()].filter((it) => !first.has(it));
const languages = later
  .filter((it) => /^[a-z]{2}-[\w-]+\.js$/.test(it))
  .sort((a, b) => sizes.get(b).gzip - sizes.get(a).gzip);
if (languages[0]) first.add(languages[0]);

const sum = (kind) => [...first].reduce((total, file) => total + sizes.get(file)[kind], 0) / 1000;
for (const file of first) console.log(`  first  ${file}  ${(sizes.get(file).gzip / 1000).toFixed(1)} kB`);
for (const file of later)
  if (!first.has(file)) console.log(`  later  ${file}  ${(sizes.get(file).gzip / 1000).toFixed(1)} kB`);
console.log(`first page: ${sum('gzip').toFixed(1)} kB gzip, ${sum('brotli').toFixed(1)} kB brotli; budget ${limit} kB`);
if (sum('gzip') > limit) {
  console.error('The first page is over its budget.');
  process.exitCode = 1;
}
