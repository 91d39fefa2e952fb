// Turns results of one or two engines into the table and the closing line.

/** @typedef {import('./runner.mjs').Result} Result */

/**
 * @param {Map<string, Result[]>} byEngine
 * @returns {{ table: string, passed: number, failed: number, differences: string[] }}
 */
export function report(byEngine) {
  const engines = [...byEngine.keys()];
  const methods = [...new Set([...byEngine.values()].flat().map((result) => result.method))].sort();
  const width = Math.max(...methods.map((name) => name.length), 6) + 2;
  const lines = [`${'method'.padEnd(width)}${engines.map((name) => name.padEnd(28)).join('')}`.trimEnd()];
  for (const method of methods) {
    const cells = engines.map((engine) =>
      cell((byEngine.get(engine) ?? []).filter((result) => result.method === method)),
    );
    lines.push(`${method.padEnd(width)}${cells.map((text) => text.padEnd(28)).join('')}`.trimEnd());
  }

  for (const [engine, results] of byEngine) {
    for (const result of results.filter(({ outcome }) => outcome === 'fails')) {
      lines.push('', `fails${result.required ? '' : ' (not required)'}: ${result.method}, ${result.check} [${engine}]`);
      lines.push(indent(result.reason ?? ''));
      for (const exchange of result.exchanges ?? []) {
        lines.push(
          indent(`${exchange.method} ${exchange.url} ${exchange.body}\n=> ${exchange.status} ${exchange.answer}`),
        );
      }
    }
  }

  lines.push(
    ...listed(
      'caused by a row that the run wrote, since the server has nothing yet that would write it',
      byEngine,
      (it) => it.sentByTest,
    ),
  );
  lines.push(...listed('refused by name', byEngine, (it) => it.outcome === 'not built yet' && it.required));

  const differences = differ(byEngine);
  for (const text of differences) lines.push('', text);

  const all = [...byEngine.values()].flat();
  const count = (/** @type {(result: Result) => boolean} */ test) => all.filter(test).length;
  lines.push(
    '',
    `all rows: ${count((r) => r.outcome === 'works')} works, ${count((r) => r.outcome === 'fails')} fails, ` +
      `${count((r) => r.outcome === 'not built yet')} not built yet; ${methods.length} methods`,
  );
  const passed = count((r) => r.outcome === 'works');
  const failed = count((r) => r.required && r.outcome === 'fails') + differences.length;
  return { table: lines.join('\n'), passed, failed, differences };
}

/** @param {Result[]} results of one method on one engine */
function cell(results) {
  if (results.length === 0) return '-';
  const has = (/** @type {string} */ outcome) => results.filter((result) => result.outcome === outcome).length;
  const of = results.length > 1 ? ` of ${results.length} checks` : '';
  if (has('fails')) return `fails${of && ` (${has('fails')}${of})`}`;
  if (!has('works')) return 'not built yet';
  if (results.every(({ sentByTest }) => sentByTest)) return 'works, caused by the run';
  if (has('not built yet')) return `works (${has('works')}${of})`;
  return results.length > 1 ? `works (${results.length} checks)` : 'works';
}

/**
 * The methods whose result is of a kind, with the reason if there is one.
 * @param {string} title
 * @param {Map<string, Result[]>} byEngine
 * @param {(result: Result) => boolean | undefined} isMeant
 */
function listed(title, byEngine, isMeant) {
  const [results] = byEngine.values();
  const found = (results ?? []).filter(isMeant);
  if (found.length === 0) return [];
  return ['', `${title}:`, ...found.map(({ method, reason }) => indent(reason ? `${method}: ${reason}` : method))];
}

/** @param {Map<string, Result[]>} byEngine */
function differ(byEngine) {
  const [first, second] = [...byEngine];
  if (!first || !second) return [];
  const found = [];
  for (const result of first[1]) {
    const other = second[1].find(({ method, check }) => method === result.method && check === result.check);
    if (!other || result.outcome !== 'works' || other.outcome !== 'works') continue;
    const [a, b] = [JSON.stringify(result.value), JSON.stringify(other.value)];
    if (a !== b)
      found.push(
        `differs between engines: ${result.method}, ${result.check}\n${indent(`${first[0]}: ${a}\n${second[0]}: ${b}`)}`,
      );
  }
  return found;
}

/** @param {string} text */
function indent(text) {
  return text
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
}
