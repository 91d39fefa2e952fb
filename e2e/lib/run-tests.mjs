// @ts-check
// Runs the stories one after another; each is independent of the others' people.

/**
 * @typedef {{ name: string, run(world: any): Promise<void> }} Test
 * @param {Test[]} tests
 * @param {any} world
 * @param {string} engine
 * @returns {Promise<{ passed: number, failed: number }>}
 */
export async function testsRun(tests, world, engine) {
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
      console.log(`failed  ${test.name} [${engine}]\n${indent(/** @type {any} */ (error).message ?? String(error))}`);
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
