// Lines that only clone, in functions that write: a closure that may run again needs what it works with each
// time, and `write_with` lends it instead.
import { afterBlock, isIdent, tokensOf } from '../rust-tokens.mjs';

export const limit = 60;
const writes = new Set(['write', 'write_with', 'append', 'append_with']);

export function clones(tree, find) {
  const counts = new Map();
  for (const file of tree.files)
    if (/^(?:crates|tests|bench)\/.*\.rs$/.test(file)) {
      const count = cloneLines(tokensOf(tree, file)).length;
      if (count) counts.set(file, count);
    }
  const sum = [...counts.values()].reduce((a, b) => a + b, 0);
  if (sum > limit) {
    const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 10);
    const where = most.map(([file, count]) => `${file} ${count}`).join(', ');
    find('crates', 0, `${sum} lines only clone for a write, the limit is ${limit}; most in ${where}`);
  }
  return `${sum} lines only clone`;
}

/** The numbers of the lines that only clone, in functions that call one of the writes. */
function cloneLines({ values, lines }) {
  const found = new Set();
  for (let at = 0; at < values.length; at += 1) {
    if (values[at] !== 'fn' || !isIdent(values[at + 1])) continue;
    let open = at;
    while (open < values.length && values[open] !== '{' && values[open] !== ';')
      open = values[open] === '(' || values[open] === '[' ? afterBlock(values, open) : open + 1;
    if (values[open] !== '{') continue;
    const end = afterBlock(values, open);
    if (hasWrite(values, open, end)) for (const line of linesBetween(values, lines, open, end)) found.add(line);
    at = end - 1;
  }
  return [...found];
}

function hasWrite(values, from, to) {
  for (let at = from; at < to; at += 1)
    if (values[at] === '.' && writes.has(values[at + 1]) && values[at + 2] === '(') return true;
  return false;
}

function* linesBetween(values, lines, from, to) {
  for (let at = from; at < to; at += 1) {
    if (values[at] !== 'let') continue;
    let equal = at;
    while (equal < to && values[equal] !== '=' && values[equal] !== ';') equal += 1;
    const end = endOfStatement(values, equal, to);
    if (values[equal] === '=' && onlyClones(values.slice(equal + 1, end)))
      for (let line = lines[at]; line <= lines[end]; line += 1) yield line;
  }
}

function endOfStatement(values, from, to) {
  let at = from;
  while (at < to && values[at] !== ';') at = '([{'.includes(values[at]) ? afterBlock(values, at) : at + 1;
  return at;
}

/** `x.clone()`, `x.to_owned()`, `Arc::clone(&x)`, a tuple with one of them, or such in an `Arc::new`. */
function onlyClones(value) {
  const text = value.join('');
  if (value[0] === '(' && afterBlock(value, 0) === value.length) return elements(value.slice(1, -1)).some(onlyClones);
  if (/^(?:Arc|Rc)::new\(/.test(text)) return onlyClones(value.slice(4, -1));
  return /^[&*]*[\w.:()]+\.(?:clone|to_owned|to_vec)\(\)$/.test(text) || /^(?:Arc|Rc)::clone\(/.test(text);
}

function elements(values) {
  const found = [[]];
  for (let at = 0; at < values.length;) {
    const next = '([{'.includes(values[at]) ? afterBlock(values, at) : at + 1;
    if (values[at] === ',') found.push([]);
    else found.at(-1).push(...values.slice(at, next));
    at = next;
  }
  return found.filter((it) => it.length);
}
