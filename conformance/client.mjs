// @ts-check
// The child process of a run: holds the unmodified packages and runs every row against one server.
// Started by run.mjs with the preload and the authority's certificate; reads its task from the
// environment and writes its results to a file.
import { readFileSync, writeFileSync } from 'node:fs';
import { recorderInstall } from './lib/recorder.mjs';

const recorder = recorderInstall();
const run = JSON.parse(readFileSync(/** @type {string} */ (process.env.CONFORMANCE_TASK), 'utf8'));

// After the recorder, which must stand between the packages and the network.
const { worldCreate } = await import('./lib/world.mjs');
const { rowsRun } = await import('./lib/runner.mjs');
const { methodsPublished } = await import('./lib/catalogue.mjs');
const { rowsAll } = await import('./rows/index.mjs');

// Some client functions reject twice, once where nobody can catch it; that must not end the run.
process.on('unhandledRejection', (reason) => {
  if (process.env.CONFORMANCE_VERBOSE) console.error('unhandled rejection in a package:', reason);
});

const rows = rowsAll.filter(({ method, check }) => `${method} ${check}`.includes(run.only ?? ''));
const withRow = new Set(rowsAll.map(({ method }) => method));
const missing = methodsPublished().filter((name) => !withRow.has(name));

const world = worldCreate(run, recorder);
const results = await rowsRun(rows, world);
await world.close();
writeFileSync(run.results, JSON.stringify({ results, missing }));
process.exit(0);
