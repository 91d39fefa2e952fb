// Every citation leads somewhere: `docs/protocol/content.md §21.9` to the section of that number,
// `docs/hazards.md §Cursors` to the heading, `decisions/0011` and `decision 11` to the file, a link to its file
// and heading, and the path of a source file to that file.
import { dirname, join } from 'node:path/posix';
import { headingsOf, linksOf } from '../markdown.mjs';

// Written in pieces, so that this file does not find itself.
const mark = '\u00a7';
const dead = new RegExp(
  [
    '\\bhaz' + 'ards: ',
    "\\bdesign's haz" + 'ards',
    '\\bmeasure' + 'ments \\(?[QF]\\d',
    '\\bshared/(?:design|protocol)\\b',
  ].join('|'),
  'g',
);
const document = /(?<![\w.-])(?:\.{1,2}\/)*([\w/-]+\.md)\b(?!\.?\w|\()/g;
const source = /\b(?:crates|web\/(?:apps|packages))\/[\w./-]+\.(?:rs|tsx?)\b/g;
// Its citations are planted.
const test = 'scripts/lib/tidy.test.mjs';
const number = /^\d+(?:\.\d+)*/;

export function citations(tree, find) {
  const decisions = new Set(tree.files.map((it) => /^decisions\/(\d{4})-/.exec(it)?.[1]).filter(Boolean));
  for (const file of tree.files.filter(tree.isText)) {
    // A migration stays as it was released.
    if (file === test || /\/migrations\//.test(file) || /\.(?:case|jsonl?|txt|lock|svg)$/.test(file)) continue;
    const isPage = file.endsWith('.md');
    const text = flowing(tree.text(file));
    const at = (offset) => tree.text(file).slice(0, offset).split('\n').length;
    for (const match of text.matchAll(dead))
      find(file, at(match.index), `a citation that leads nowhere: ${match[0].trim()}`);
    for (const match of text.matchAll(/\b[Dd]ecisions? (\d{1,4})\b|\bdecisions\/(\d{4})/g)) {
      const wanted = (match[1] ?? match[2]).padStart(4, '0');
      if (!decisions.has(wanted)) find(file, at(match.index), `there is no decision ${wanted}`);
    }
    for (const match of text.matchAll(document)) {
      // What a name looks like is no name.
      if (match[1].includes('NNNN')) continue;
      // A page names others by links, which are looked at below.
      if (isPage && (!/^(?:docs|decisions|protocol)\//.test(match[1]) || text[match.index - 1] === '(')) continue;
      if (![match[1], join(dirname(file), match[0])].some(tree.has))
        find(file, at(match.index), `${match[1]} is not there`);
    }
    if (file !== 'CHANGELOG.md')
      for (const match of text.matchAll(source))
        if (!tree.has(match[0])) find(file, at(match.index), `${match[0]} is not there`);
    if (isPage) checkLinks(tree, file, find);
    checkSections(tree, file, text, (offset, message) => find(file, at(offset), message));
  }
}

/** The text with each comment on one line; every character stays at its offset. */
const flowing = (text) =>
  text.replace(/\n[ \t]*(?:\/\/[/!]?|#(?=\s)|\*(?!\/)|--)?[ \t]*/g, (it) => ' '.repeat(it.length));

function checkSections(tree, file, text, find) {
  let cited;
  let end = -1;
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) {
    const before = text.slice(Math.max(0, at - 160), at);
    const path = /([\w/-]+\.md)\s+$/.exec(before)?.[1];
    if (path) cited = tree.has(path) ? path : join(dirname(file), path);
    // In a row, each is a section of the document that was named first.
    else if (!(end !== -1 && /^\s*(?:,|;|and|or|to|,\s*and)?\s*$/.test(text.slice(end, at)))) cited = undefined;
    if (/RFC \d+,?\s+$/.test(before)) continue;
    cited ??= file.endsWith('.md') ? file : undefined;
    if (!cited) {
      find(at, 'a section of no document: its path stands before it, as in docs/hazards.md');
      continue;
    }
    if (!tree.has(cited)) continue;
    const rest = text.slice(at + 1, at + 240).replace(/\s+/g, ' ');
    const section = sectionAt(headingsOf(tree, cited), rest);
    if (section === undefined) find(at, `${cited} has no section ${rest.slice(0, 40).replace(/[)\]"'`].*$/, '')}`);
    end = section === undefined ? -1 : at + 1 + section;
  }
}

/** The length of the section's name that a text begins with. */
function sectionAt(headings, text) {
  const wanted = number.exec(text)?.[0];
  if (wanted) return headings.some((it) => it.number === wanted) ? wanted.length : undefined;
  const titles = headings
    .map((it) => it.title)
    .filter((it) => text.startsWith(it) && !/^[\p{L}\p{N}]/u.test(text.slice(it.length)));
  return titles.length ? Math.max(...titles.map((it) => it.length)) : undefined;
}

function checkLinks(tree, file, find) {
  for (const { target, line } of linksOf(tree, file)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [path, anchor] = target.split('#');
    const to = path ? join(dirname(file), decodeURI(path)).replace(/\/$/, '') : file;
    if (!tree.has(to) && !tree.hasFolder(to)) find(file, line, `a link leads nowhere: ${target}`);
    else if (anchor && to.endsWith('.md') && !headingsOf(tree, to).some((it) => it.anchor === anchor))
      find(file, line, `${to} has no heading #${anchor}`);
  }
}
