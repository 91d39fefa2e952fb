// README.md names what is not built as the conformance run finds it (conformance/lib/promises.mjs).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrongPromises } from '../../conformance/lib/promises.mjs';

const readme = (...names) => `# A
### What is not built
| methods | what |
|---|---|
${names.map((it) => `| ${it} | some |`).join('\n')}

## B
| \`items.get\` | elsewhere |
`;
const row = (method, outcome = 'not built yet') => ({ method, outcome });
const rows = [
  row('items.get', 'works'),
  row('items.search'),
  row('items.patch', 'works'),
  row('items.patch'),
  row('items.once', 'works'),
  row('items.onMade'),
  row('members badges.onMade'),
  row('tasks.make'),
];

test('README that names what is missing is right', () => {
  assert.deepEqual(wrongPromises(readme('`items.search`, `tasks.*`', '`*.on*`'), rows), []);
});

test('what the run itself sends counts as not built', () => {
  const sent = { ...row('backups.onChanged', 'works'), sentByTest: true };
  assert.deepEqual(wrongPromises(readme('`backups.*`'), [sent, row('backups.make')]), []);
  assert.deepEqual(wrongPromises(readme('`backups.make`'), [sent, row('backups.make')]), [
    'backups.onChanged is not built, and README.md does not say so',
  ]);
});

test('README that names too little or too much is told', () => {
  assert.deepEqual(wrongPromises(readme('`tasks.*`', '`*.on*`'), rows), [
    'items.search is not built, and README.md does not say so',
  ]);
  assert.deepEqual(wrongPromises(readme('`items.search`, `items.patch`, `tasks.*`', '`*.on*`, `backups.*`'), rows), [
    'README.md says that items.patch is not built, and it is there',
    'README.md says that items.patch is not built, and no method of that name is missing',
    'README.md says that backups.* is not built, and no method of that name is missing',
  ]);
  assert.match(wrongPromises('# A\n', rows)[0], /has no heading/);
});
