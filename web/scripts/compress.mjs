/* Writes what a browser takes compressed beside each file of DIST that gets smaller: FILE.br and FILE.gz. The server
 * has them inside and sends them as they are. Usage: compress.mjs DIST */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Pictures and fonts are compressed by their format. */
const COMPRESSIBLE = /\.(?:css|html|js|json|map|svg|txt|webmanifest|xml)$/;
/** Fewer bytes fit into one packet either way. */
const LEAST = 1024;

const brotli = (bytes) =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
const FORMS = { '.br': brotli, '.gz': (bytes) => gzipSync(bytes, { level: 9 }) };

/** Answers how many files were compressed, and their bytes: as they are, and in each form. */
export function compress(dist) {
  const sizes = { files: 0, plain: 0, '.br': 0, '.gz': 0 };
  for (const name of readdirSync(dist, { recursive: true })) {
    if (!COMPRESSIBLE.test(name)) continue;
    const bytes = readFileSync(join(dist, name));
    if (bytes.length < LEAST) continue;
    sizes.files += 1;
    sizes.plain += bytes.length;
    for (const [suffix, form] of Object.entries(FORMS)) {
      const made = form(bytes);
      if (made.length >= bytes.length) continue;
      writeFileSync(join(dist, name + suffix), made);
      sizes[suffix] += made.length;
    }
  }
  return sizes;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const dist = process.argv[2];
  if (!dist) throw new Error('usage: compress.mjs DIST');
  const sizes = compress(dist);
  const kB = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
  console.log(`${sizes.files} files of ${kB(sizes.plain)}: ${kB(sizes['.br'])} brotli, ${kB(sizes['.gz'])} gzip`);
}
