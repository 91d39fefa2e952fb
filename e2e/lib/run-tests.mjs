// Runs the stories one after another; each is independent of the others' accounts.
import { messageOf } from '../../conformance/lib/parse.mjs';

/** @import { Stoa } from '../../conformance/lib/stoa.mjs' */
/** @import { Browser } from './browser.mjs' */

/**
 * What a test works with.
 * @typedef {object} World
 * @property {Browser} browser
 * @property {Stoa} stoa
 * @property {string} url      of the website Atlas
 * @property {string} shots    the folder for pictures
 * @property {string} engine
 *
 * @typedef {{ name: string, run(world: World): Promise<void> }} Test
 */

/**
 * @param {Test[]} tests
 * @param {World} world
 * @param {string} engine
 * @returns {Promise<{ passed: number, failed: number }>}
 */
export async function runTests(tests, world, engine) {
  let passed = 0;
  let failed = 0;
  for (const test of tests) {
    const started = Date.now();
    try {
      await test.run(world);
      passed += 1;
      console.log(`ok      ${test.name} [${engine}] (${Date.now() - started} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`failed  ${test.name} [${engine}]\n${indent(messageOf(error))}`);
    }
  }
  return { passed, failed };
}

/** @param {string} text */
function indent(text) {
  return text
    .split('\n')
    .map((line) => `        ${line}`)
    .join('\n');
}
