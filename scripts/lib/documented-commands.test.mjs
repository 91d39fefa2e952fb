import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { addressesOf, blocksOf, fits, problemsOf, scriptOf, terminalOf } from './documented-commands.mjs';

const root = resolve(import.meta.dirname, '../..');
const page = (...blocks) => blocks.map(([info, text]) => `Words\n\`\`\`${info}\n${text}\`\`\`\n`).join('');

/** Runs the commands of a page in a folder of its own. */
function run(markdown) {
  const folder = mkdtempSync(join(tmpdir(), 'stoa-page-'));
  const script = scriptOf(blocksOf(markdown), 'page', folder, 'sed s/^/opened:/');
  const { status } = spawnSync('bash', ['-c', script], { cwd: folder });
  const printed = Object.fromEntries(readdirSync(folder).map((it) => [it, readFileSync(join(folder, it), 'utf8')]));
  rmSync(folder, { recursive: true });
  return { status, printed };
}

test('code blocks are found with language, file and line', () => {
  const markdown = `${page(['sh', 'one\n'], ['js first.mjs', 'two\n\n'])}\`\`\`\`md\n\`\`\`sh\nno\n\`\`\`\n\`\`\`\`\n`;
  assert.deepEqual(blocksOf(markdown), [
    { language: 'sh', file: '', text: 'one\n', line: 3 },
    { language: 'js', file: 'first.mjs', text: 'two\n\n', line: 7 },
    { language: 'md', file: '', text: '```sh\nno\n```\n', line: 11 },
  ]);
  assert.throws(() => blocksOf('```sh\nopen'), /line 1 does not end/);
});

test('commands run in order, in one shell, with the files of the page', () => {
  const { status, printed } = run(
    page(
      ['sh', 'name=world # kept\n'],
      ['js hello.mjs', 'console.log("$name", process.argv[2])\n'],
      ['sh', 'node hello.mjs "$name"\necho done\n'],
    ),
  );
  assert.equal(status, 0);
  assert.equal(printed['11'], '$name world\ndone\n');
});

test('commands that fail stop the page and tell the line', () => {
  for (const bad of ['false', 'no-such-program', 'false | cat']) {
    const { status, printed } = run(page(['sh', 'echo one\n'], ['sh', `${bad}\necho two\n`], ['sh', 'echo three\n']));
    assert.notEqual(status, 0, bad);
    assert.equal(printed.at, 'page:7\n', bad);
    assert.equal(printed['7'].includes('two') || '11' in printed, false, bad);
  }
});

test('address that was printed is opened before the next commands', () => {
  const blocks = [
    ['sh', 'echo http://x/1\n'],
    ['link', 'http://x/…\n'],
    ['sh', 'echo "$(cat 3)"\n'],
  ];
  const { status, printed } = run(page(...blocks));
  assert.equal(status, 0);
  assert.equal(printed['7'], 'opened:http://x/1\n');
  assert.equal(printed['11'], 'http://x/1\n');
});

test('terminal of a page is its command and what that prints', () => {
  assert.deepEqual(terminalOf(blocksOf(page(['terminal', '$ make run\n  a\nready …\n']))), {
    command: 'make run',
    shown: '  a\nready …\n',
    line: 3,
  });
  assert.equal(terminalOf(blocksOf(page(['sh', 'ls\n']))), undefined);
});

test('addresses of the server are those in the words of a page', () => {
  const markdown = `At <http://a.localhost:44/s/x/>, \`http://127.0.0.1:44\`.\n${page(['sh', 'curl http://b:44/\n'])}http://c:44/.`;
  assert.deepEqual(addressesOf(markdown, 44), ['http://a.localhost:44/s/x/', 'http://127.0.0.1:44', 'http://c:44/']);
});

test('output fits what the page shows, with … for anything in a line', () => {
  assert.equal(fits('{"siteId":"…"}\n', '{"siteId":"a.b"}\n'), true);
  assert.equal(fits('{"siteId":"…"}', '{"clientId":"a"}'), false);
  assert.equal(fits('a\n…\n', 'a\nb'), true);
  assert.equal(fits('a\n…', 'a\nb\nc'), false);
  assert.equal(fits('a.c', 'abc'), false);
});

test('block without a language or text without commands is told', () => {
  const problems = (markdown) => problemsOf(blocksOf(markdown));
  assert.match(problems(page(['', 'ls\n']))[0], /^3: a code block names its language/);
  assert.match(problems(page(['text', 'x\n']))[0], /^3: text follows the commands/);
  assert.match(problems(page(['link', 'x\n']))[0], /^3: link follows the commands/);
  assert.match(problems(page(['terminal', 'make run\n']))[0], /^3: a page has one terminal/);
  assert.match(problems(page(['terminal', '$ a\n'], ['terminal', '$ b\n']))[0], /^7: a page has one terminal/);
  assert.match(problems(page(['js ../x', 'x\n']))[0], /is no name of a file/);
  assert.deepEqual(problems(page(['sh', 'ls\n'], ['text', 'x\n'], ['json', '{}\n'])), []);
});

test('pages of documentation have blocks that can be run or read', () => {
  const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)];
  for (const name of pages.filter((it) => it.endsWith('.md')))
    assert.deepEqual(problemsOf(blocksOf(readFileSync(join(root, name), 'utf8'))), [], name);
});
