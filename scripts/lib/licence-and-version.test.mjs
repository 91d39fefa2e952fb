import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowed, compare, hit } from './licence-and-version.mjs';

const some = new Set(['MIT', 'Apache-2.0', 'ISC', 'Apache-2.0 WITH LLVM-exception']);

test('licence expression is met by the listed licences', () => {
  for (const licence of [
    'MIT',
    'MIT OR GPL-3.0',
    'GPL-3.0 OR MIT',
    'MIT/Apache-2.0',
    '(MIT OR GPL-3.0) AND ISC',
    'Apache-2.0 WITH LLVM-exception',
    'GPL-3.0 AND GPL-2.0 OR MIT',
    '((MIT))',
  ])
    assert.equal(allowed(licence, some), true, licence);
  for (const licence of ['GPL-3.0', 'MIT AND GPL-3.0', 'MIT WITH LLVM-exception', '(MIT OR ISC) AND GPL-3.0'])
    assert.equal(allowed(licence, some), false, licence);
  for (const licence of ['MIT ISC', '(MIT', 'OR MIT', 'MIT AND', ''])
    assert.throws(() => allowed(licence, some), /not an SPDX expression/, licence);
});

test('version order is that of semantic versioning', () => {
  const inOrder = [
    '0.9.9',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.0.1',
    '1.10.0',
    '2.0.0',
  ];
  for (let i = 1; i < inOrder.length; i += 1)
    assert.ok(compare(inOrder[i - 1], inOrder[i]) < 0, `${inOrder[i - 1]} < ${inOrder[i]}`);
  assert.equal(compare('1.2.1+spec-1.1.0', '1.2.1'), 0);
});

test('version range holds when all its bounds do', () => {
  assert.equal(hit('0.23.17', ['>=0.23.13 <0.23.18']), true);
  assert.equal(hit('0.23.18', ['>=0.23.13 <0.23.18']), false);
  assert.equal(hit('1.42.0', ['<1.38.2', '>=1.39.0 <1.42.1']), true);
  assert.equal(hit('3.0.0', ['*']), true);
  assert.throws(() => hit('1.0.0', ['1.2']), /not a version range/);
});
