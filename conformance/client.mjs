// The child process of a run: holds the unmodified packages and runs every row against one server.
// Started by run.mjs with the preload and the authority's certificate; reads its task from the
// environment and writes its results to a file.
import { readFileSync, writeFileSync } from 'node:fs';
import { installRecorder } from './lib/recorder.mjs';

/** @import { Outcome, Run } from './lib/types.js' */

const recorder = installRecorder();
/** @type {{ run: Run, results: string }} */
const task = JSON.parse(readFileSync(process.env.CONFORMANCE_TASK ?? '', 'utf8'));
const { run } = task;

// After the recorder, which must stand between the packages and the network.
const { createWorld } = await import('./lib/world.mjs');
const { runRows } = await import('./lib/runner.mjs');
const { publishedMethods } = await import('./lib/catalogue.mjs');
const { allRows } = await import('./rows/index.mjs');

// Some client functions reject twice, once where it can't be caught; that must not end the run.
process.on('unhandledRejection', (reason) => {
  if (process.env.CONFORMANCE_VERBOSE) console.error('unhandled rejection in a package:', reason);
});

const rows = allRows.filter(({ method, check }) => `${method} ${check}`.includes(run.only ?? ''));
const withRow = new Set(allRows.map(({ method }) => method));
const missing = publishedMethods().filter((name) => !withRow.has(name));

const world = createWorld(run, recorder);
const results = await runRows(rows, world);
await world.close();
/** @type {Outcome} */
const outcome = { results, missing };
writeFileSync(task.results, JSON.stringify(outcome));
process.exit(0);
