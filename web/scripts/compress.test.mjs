import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compress } from './compress.mjs';

const dist = mkdtempSync(join(tmpdir(), 'stoa-compress-'));
const page = '<p>words</p>'.repeat(200);
const script = 'export const a = 1;'.repeat(200);

beforeAll(() => {
  mkdirSync(join(dist, 'assets'));
  writeFileSync(join(dist, 'index.html'), page);
  writeFileSync(join(dist, 'assets/a.js'), script);
  writeFileSync(join(dist, 'assets/small.css'), 'a{color:red}');
  writeFileSync(join(dist, 'assets/font.woff2'), page);
});
afterAll(() => rmSync(dist, { recursive: true }));

describe('compress', () => {
  it('writes both forms beside each file that gets smaller, and no others', () => {
    expect(compress(dist)).toMatchObject({ files: 2, plain: page.length + script.length });
    expect(readdirSync(dist).sort()).toEqual(['assets', 'index.html', 'index.html.br', 'index.html.gz']);
    const assets = ['a.js', 'a.js.br', 'a.js.gz', 'font.woff2', 'small.css'];
    expect(readdirSync(join(dist, 'assets')).sort()).toEqual(assets);
    expect(brotliDecompressSync(readFileSync(join(dist, 'assets/a.js.br'))).toString()).toBe(script);
    expect(gunzipSync(readFileSync(join(dist, 'index.html.gz'))).toString()).toBe(page);
  });

  it('writes the same again from the same files', () => {
    const before = readFileSync(join(dist, 'assets/a.js.gz'));
    compress(dist);
    expect(readFileSync(join(dist, 'assets/a.js.gz'))).toEqual(before);
  });
});
