#!/usr/bin/env node
// @ts-check
// Compares what tests asked and were answered with the description of the interface (decision 28).
//   scripts/traffic/check.mjs [--document FILE] [--allowed FILE] DIRECTORY…
// Reads every file of exchanges below the directories. Fails when an exchange doesn't fit, when something is described
// that no test brings about, and when scripts/traffic/allowed.json allows what nothing needs.
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readAllowed } from './lib/allowed.mjs';
import { checker } from './lib/check.mjs';
import { exchangesOf, filesBelow } from './lib/exchanges.mjs';
import { report } from './lib/report.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const { values: options, positionals: directories } = parseArgs({
  allowPositionals: true,
  options: {
    document: { type: 'string', default: join(here, '../../docs/openapi.json') },
    allowed: { type: 'string', default: join(here, 'allowed.json') },
  },
});

const started = Date.now();
const files = directories.flatMap((it) => filesBelow(resolve(it)));
if (files.length === 0) throw new Error(`no exchanges are below ${directories.join(', ') || 'no directory'}`);
const check = checker(JSON.parse(readFileSync(options.document, 'utf8')), readAllowed(options.allowed));
for (const file of files) for (const exchange of exchangesOf(file)) check.see(exchange);
const { lines, findings } = report(check.result());
for (const it of lines) console.log(it);
console.log(`${files.length} files in ${((Date.now() - started) / 1000).toFixed(1)} s: ${findings} findings`);
process.exitCode = findings > 0 ? 1 : 0;
