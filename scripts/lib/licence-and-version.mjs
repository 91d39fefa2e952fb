// SPDX licence expressions and version ranges, as far as scripts/check-dependencies.mjs needs them: pure
// functions, tested by scripts/lib/licence-and-version.test.mjs.

/**
 * Whether an SPDX expression can be met with the licences of the set. OR wants one side, AND both; WITH
 * belongs to the id before it; the old `MIT/Apache-2.0` reads as OR.
 */
export function allowed(expression, licences) {
  const words = expression.replaceAll('/', ' OR ').replace(/[()]/g, ' $& ').trim().split(/\s+/);
  let at = 0;
  const result = either();
  if (at < words.length) throw new Error(`not an SPDX expression: ${expression}`);
  return result;

  function either() {
    let met = both();
    while (words[at]?.toUpperCase() === 'OR') {
      at += 1;
      met = both() || met;
    }
    return met;
  }
  function both() {
    let met = one();
    while (words[at]?.toUpperCase() === 'AND') {
      at += 1;
      met = one() && met;
    }
    return met;
  }
  function one() {
    let id = words[at++];
    if (id === '(') {
      const met = either();
      if (words[at++] !== ')') throw new Error(`not an SPDX expression: ${expression}`);
      return met;
    }
    if (!id || id === ')' || /^(?:OR|AND|WITH)$/i.test(id)) throw new Error(`not an SPDX expression: ${expression}`);
    if (words[at]?.toUpperCase() === 'WITH') {
      id = `${id} WITH ${words[at + 1]}`;
      at += 2;
    }
    return licences.has(id);
  }
}

/** Whether a version lies in one of the ranges; a range is bounds such as `>=1.2.0 <1.3.1`, all of which hold, or `*`. */
export function hit(version, ranges) {
  return ranges.some((range) =>
    range.split(/\s+/).every((bound) => {
      const [, sign, wanted] = /^(\*|>=|<=|<|>|=)(.*)$/.exec(bound) ?? [];
      if (!sign) throw new Error(`not a version range: ${range}`);
      const order = sign === '*' ? 0 : compare(version, wanted);
      return { '*': true, '>=': order >= 0, '<=': order <= 0, '<': order < 0, '>': order > 0, '=': order === 0 }[sign];
    }),
  );
}

/** Semantic version order without build metadata; a pre-release stands before its release. */
export function compare(a, b) {
  const [left, right] = [a, b].map((version) => {
    const [core, ...pre] = version.split('+')[0].split('-');
    return { core: core.split('.').map(Number), pre: pre.length ? pre.join('-').split('.') : [] };
  });
  for (let i = 0; i < 3; i += 1) {
    const order = (left.core[i] ?? 0) - (right.core[i] ?? 0);
    if (order) return order;
  }
  if (!left.pre.length || !right.pre.length) return right.pre.length - left.pre.length;
  for (let i = 0; i < Math.max(left.pre.length, right.pre.length); i += 1) {
    const [l, r] = [left.pre[i], right.pre[i]];
    if (l === r) continue;
    if (l === undefined) return -1;
    if (r === undefined) return 1;
    const [ln, rn] = [/^\d+$/.test(l), /^\d+$/.test(r)];
    if (ln && rn) return Number(l) - Number(r);
    if (ln !== rn) return ln ? -1 : 1;
    return l < r ? -1 : 1;
  }
  return 0;
}
