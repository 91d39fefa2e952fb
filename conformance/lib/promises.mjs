// Whether README.md names what is not built: no more, and no less.

/** @import { Result } from './runner.mjs' */

const HEADING = '### What is not built';

/**
 * @param {string} readme
 * @param {Result[]} results of one engine
 * @returns {string[]} a sentence for each method that is wrongly named or not named
 */
export function wrongPromises(readme, results) {
  const [, section] = readme.split(`${HEADING}\n`);
  if (section === undefined) return [`README.md has no heading "${HEADING}"`];
  const named = section
    .split(/^#/m)[0]
    .split('\n')
    .flatMap((line) => [...(/^\| (`[^|]*)\|/.exec(line)?.[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  const patterns = named.map((name) => ({ name, fits: patternOf(name) }));

  const methods = new Map();
  // What the run itself sends shows that the packages would take it, not that it is built.
  for (const { method, outcome, sentByTest } of results)
    methods.set(method, (methods.get(method) ?? true) && (outcome === 'not built yet' || sentByTest === true));
  const wrong = [];
  for (const [method, isMissing] of methods) {
    const isNamed = patterns.some(({ fits }) => fits.test(method));
    if (isMissing && !isNamed) wrong.push(`${method} is not built, and README.md does not say so`);
    if (!isMissing && isNamed) wrong.push(`README.md says that ${method} is not built, and it is there`);
  }
  const missing = [...methods].filter(([, isMissing]) => isMissing).map(([method]) => method);
  for (const { name, fits } of patterns)
    if (!missing.some((method) => fits.test(method)))
      wrong.push(`README.md says that ${name} is not built, and no method of that name is missing`);
  return wrong;
}

/** `*` stands for anything; right after a letter it begins with a capital one. @param {string} name */
function patternOf(name) {
  const parts = name.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.reduce((all, part) => `${all}${/[a-z]$/.test(all) ? '[A-Z]' : ''}.*${part}`)}$`);
}
