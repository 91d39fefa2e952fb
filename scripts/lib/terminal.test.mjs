import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { openTerminal, plain } from './terminal.mjs';

const place = { cwd: tmpdir() };

test('command sees a terminal, and Ctrl-C ends all of it', async () => {
  const child = 'echo child $$; test -t 2 && echo ready; exec sleep 60';
  const terminal = openTerminal(`trap 'echo stopped; exit' INT; bash -c '${child}'`, place);
  await terminal.waitFor(/^ready$/m, 10_000);
  const [, pid] = await terminal.waitFor(/^child (\d+)$/m, 10_000);
  assert.equal(await terminal.interrupt(), true);
  assert.match(terminal.printed(), /^(\^C)?stopped$/m);
  assert.throws(() => process.kill(Number(pid), 0), { code: 'ESRCH' });
});

test('command that ends before its line is told with what it printed', async () => {
  const terminal = openTerminal('echo half; exit 3', place);
  await assert.rejects(terminal.waitFor(/^ready$/m, 10_000), /ended with 3\nhalf/);
  assert.equal(await terminal.interrupt(), true);
});

test('lines are those that stand at last', () => {
  assert.equal(plain('10%\r100%\r\x1b[2K\r\nready\r\n'), '\nready\n');
  assert.equal(plain('a\rb\r\nc'), 'b\nc');
});
