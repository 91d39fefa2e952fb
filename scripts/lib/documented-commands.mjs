// The code blocks of a page of documentation as a shell script that runs them, in order and as printed. Used by
// scripts/readme.mjs, tested by scripts/lib/documented-commands.test.mjs. What a block's language says:
//   terminal      behind `$ ` a command that goes on in a terminal of its own, then the last lines it prints until it
//                 is ready; … stands for anything within a line
//   sh            commands that run here, in one shell for the whole page
//   text          what the block of commands before it prints, with … as above
//   link          the same, and a person opens the address in it and does what the page behind it asks for
//   LANGUAGE FILE a file of that name, which later commands of the page use
//   console       commands that run elsewhere, or by hand
// and any other language is an example to read.

/**
 * @typedef {object} Block
 * @property {string} language
 * @property {string} file   the name it is written under; empty if none
 * @property {string} text
 * @property {number} line   of its first line, from 1
 */

/** @param {string} markdown @returns {Block[]} */
export function blocksOf(markdown) {
  const blocks = [];
  /** @type {(Block & { fence: string }) | undefined} */
  let open;
  markdown.split('\n').forEach((line, index) => {
    const [, fence, info] = /^(`{3,})(.*)$/.exec(line) ?? [];
    if (open && fence?.length >= open.fence.length && !info.trim()) {
      const { fence: _, ...block } = open;
      blocks.push(block);
      open = undefined;
    } else if (open) {
      open.text += `${line}\n`;
    } else if (fence) {
      const [language = '', file = ''] = info.trim().split(/\s+/);
      open = { language, file, text: '', line: index + 2, fence };
    }
  });
  if (open) throw new Error(`the code block of line ${open.line - 1} does not end`);
  return blocks;
}

/** What is wrong with the blocks of a page, as `line: why`. @param {Block[]} blocks */
export function problemsOf(blocks) {
  const problems = [];
  let before = '';
  let hadTerminal = false;
  for (const { language, file, text, line } of blocks) {
    if (!language) problems.push(`${line}: a code block names its language: sh for commands, text for what they print`);
    if (file && !/^\w[\w.-]*$/.test(file)) problems.push(`${line}: ${file} is no name of a file`);
    if (language === 'sh' && file) problems.push(`${line}: commands that run have no file name`);
    if (isPrinted(language) && before !== 'sh')
      problems.push(`${line}: ${language} follows the commands that print it`);
    if (language === 'terminal' && (commandOf(text) === undefined || hadTerminal))
      problems.push(`${line}: a page has one terminal, which begins with its command: $ COMMAND`);
    hadTerminal ||= language === 'terminal';
    before = language;
  }
  return problems;
}

/** Whether blocks of this language show what the commands before them print. @param {string} language */
export const isPrinted = (language) => language === 'text' || language === 'link';

/** The command that goes on in a terminal of its own, and what it prints. @param {Block[]} blocks */
export function terminalOf(blocks) {
  const block = blocks.find(({ language }) => language === 'terminal');
  return (
    block && { command: commandOf(block.text), shown: block.text.slice(block.text.indexOf('\n') + 1), line: block.line }
  );
}

const commandOf = (text) => /^\$ (.+)\n/.exec(text)?.[1];

/** Whether a page has anything to run. @param {Block[]} blocks */
export const hasCommands = (blocks) => blocks.some(({ language }) => language === 'sh');

/**
 * A script for bash. What each block of commands prints goes to `OUT/LINE`, what failed to the last line of `OUT/at`.
 * @param {Block[]} blocks
 * @param {string} page
 * @param {string} out
 * @param {string} follow  a command that opens the address in a file
 */
export function scriptOf(blocks, page, out, follow) {
  const parts = ['set -eo pipefail'];
  let before = 0;
  for (const { language, file, text, line } of blocks) {
    const end = 'end of the documented block';
    const run = (commands) =>
      parts.push(`echo '${page}:${line}' >'${out}/at'\n{\n${commands}} >'${out}/${line}' </dev/null`);
    if (file) parts.push(`cat >'${file}' <<'${end}'\n${text}${end}`);
    else if (language === 'sh') run(text);
    else if (language === 'link') run(`${follow} '${out}/${before}'\n`);
    before = line;
  }
  return `${parts.join('\n')}\n`;
}

/**
 * The addresses of a server that the words of a page name, those in blocks left out.
 * @param {string} markdown
 * @param {number} port  of the server
 */
export function addressesOf(markdown, port) {
  const words = markdown.replace(/^(`{3,})[^`][^]*?^\1$/gm, '');
  return [...new Set(words.match(new RegExp(`http://[\\w.-]+:${port}(/([\\w./-]*[\\w/-])?)?`, 'g')) ?? [])];
}

/** Whether what was printed is what the page shows. @param {string} shown @param {string} printed */
export function fits(shown, printed) {
  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const pattern = shown
    .trimEnd()
    .split('\n')
    .map((line) => line.split('…').map(escaped).join('.*'))
    .join('\n');
  return new RegExp(`^${pattern}$`).test(printed.trimEnd());
}
