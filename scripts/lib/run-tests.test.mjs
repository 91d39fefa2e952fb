// The runner of test programs finds what cargo built, and never calls a failure a success.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { failures, programs, remarks } from './run-tests.mjs';

/** cargo's message about a program of the package in `folder` */
const artifact = (folder, name, executable, isTest = true) =>
  JSON.stringify({
    reason: 'compiler-artifact',
    manifest_path: join(folder, 'Cargo.toml'),
    target: { name },
    profile: { test: isTest },
    executable,
  });

/** Runs the runner on programs that are shell scripts with these bodies. */
async function runner(bodies) {
  const folder = mkdtempSync(join(tmpdir(), 'stoa-programs-'));
  const messages = Object.entries(bodies).map(([name, body]) => {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${body}\n`);
    chmodSync(path, 0o755);
    return artifact(folder, name, path);
  });
  // One after another, so that no database is started for them.
  const env = { ...process.env, STOA_TEST_PROGRAMS: '1' };
  const child = spawn(process.execPath, [join(import.meta.dirname, 'run-tests.mjs')], { env });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  child.stdin.end(messages.join('\n'));
  const code = await new Promise((done) => child.once('close', done));
  rmSync(folder, { recursive: true });
  return { code, output };
}

const PASSED = 'test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s';

test('programs are the test programs, the long ones first', () => {
  const found = programs(
    [
      'a line that is not JSON',
      JSON.stringify({ reason: 'build-script-executed' }),
      artifact('/r/crates/kernel', 'stoa_kernel', '/t/kernel'),
      artifact('/r/crates/server', 'stoa', '/t/stoa', false),
      artifact('/r/crates/http', 'stoa_http', null),
      artifact('/r/crates/server', 'it', '/t/it'),
    ].join('\n'),
  );
  assert.deepEqual(
    found.map((it) => [it.name, it.path, it.folder]),
    [
      ['server it', '/t/it', '/r/crates/server'],
      ['kernel stoa_kernel', '/t/kernel', '/r/crates/kernel'],
    ],
  );
});

test('remarks are what a test prints, and no line of libtest', () => {
  const output = `running 2 tests\ntest a::b ... \nseed 7: fine\nok\ntest c ... ok\n\n${PASSED}\n`;
  assert.deepEqual(remarks(output), ['test a::b ... ', 'seed 7: fine']);
});

test('failures are the names of tests with the beginning of what they say', () => {
  const said = `---- a::b stdout ----\n\nthread 'a::b' panicked at x.rs:1:2:\nleft: 1\nstack backtrace:\n   0: begin\n`;
  const output = `test a::b ... FAILED\n\nfailures:\n\n${said}\n---- c stdout ----\nError: no\n\n\nfailures:\n    a::b\n    c\n`;
  assert.deepEqual(failures(output), [
    'a::b',
    "    thread 'a::b' panicked at x.rs:1:2:",
    '    left: 1',
    'c',
    '    Error: no',
  ]);
  assert.deepEqual(failures('Segmentation fault\n'), []);
});

test('runner passes when every program does, and counts tests', async () => {
  const { code, output } = await runner({ one: `echo '${PASSED}'`, two: `echo '${PASSED}'` });
  assert.equal(code, 0, output);
  assert.match(output, /6 tests of 2 programs passed/);
});

test('runner fails with a program that fails, and shows all it printed', async () => {
  const { code, output } = await runner({ one: `echo '${PASSED}'`, two: 'echo "test x ... FAILED"; exit 101' });
  assert.equal(code, 1, output);
  assert.match(output, /test x \.\.\. FAILED[^]*failed: .* two/);
});

test('runner fails with a program that is killed or says nothing', async () => {
  for (const body of [`echo '${PASSED}'; kill -9 $$`, 'exit 0']) {
    const { code, output } = await runner({ one: body });
    assert.equal(code, 1, output);
  }
});

test('runner fails when there is no program', async () => {
  const { code, output } = await runner({});
  assert.equal(code, 1, output);
  assert.match(output, /built no test program/);
});
