// The code blocks of a page of documentation as a shell script that runs them, in order and as printed. Used by
// scripts/readme.mjs, tested by scripts/lib/documented-commands.test.mjs. What a block's language says:
//   sh            commands that run here, in one shell for the whole page
//   text          what the block of commands before it prints; … stands for anything within a line
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
  for (const { language, file, line } of blocks) {
    if (!language) problems.push(`${line}: a code block names its language: sh for commands, text for what they print`);
    if (file && !/^\w[\w.-]*$/.test(file)) problems.push(`${line}: ${file} is no name of a file`);
    if (language === 'sh' && file) problems.push(`${line}: commands that run have no file name`);
    if (language === 'text' && before !== 'sh') problems.push(`${line}: text follows the commands that print it`);
    before = language;
  }
  return problems;
}

/** Whether a page has anything to run. @param {Block[]} blocks */
export const hasCommands = (blocks) => blocks.some(({ language }) => language === 'sh');

/**
 * A script for bash. What each block of commands prints goes to `OUT/LINE`, what failed to the last line of `OUT/at`.
 * @param {Block[]} blocks
 * @param {string} page
 * @param {string} out
 */
export function scriptOf(blocks, page, out) {
  const parts = ['set -eo pipefail'];
  for (const { language, file, text, line } of blocks) {
    const end = 'end of the documented block';
    if (file) parts.push(`cat >'${file}' <<'${end}'\n${text}${end}`);
    else if (language === 'sh')
      parts.push(`echo '${page}:${line}' >'${out}/at'\n{\n${text}} >'${out}/${line}' </dev/null`);
  }
  return `${parts.join('\n')}\n`;
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
