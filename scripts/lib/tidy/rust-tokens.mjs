// Rust source as tokens: enough of the language to follow paths, items and blocks, with comments gone and
// literals reduced to what they are.

// Whitespace is what no part matches.
const pattern = new RegExp(
  [
    '\\/\\/[^\\n]*',
    '\\/\\*',
    '(?:br|cr|r)(#*)"',
    '[bc]?"(?:[^"\\\\]|\\\\[^])*"',
    "b?'(?:[^'\\\\\\n]|\\\\(?:u\\{[^}]*\\}|x..|.))'",
    "'[A-Za-z_]\\w*",
    '(?:r#)?[A-Za-z_]\\w*',
    '\\d\\w*(?:\\.\\d\\w*)?',
    '::|->|=>|\\.\\.=?',
    '\\S',
  ].join('|'),
  'g',
);

/**
 * The tokens of a source text, as `{ values, lines }` of equal length. A string is `"`, a character `'`, a
 * lifetime `'_`, a number `0`; every other token is itself.
 */
export function tokens(text) {
  const values = [];
  const lines = [];
  let line = 1;
  let newline = text.indexOf('\n');
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const [found, hashes] = match;
    if (found.startsWith('//')) continue;
    if (found === '/*') {
      pattern.lastIndex = endOfComment(text, match.index);
      continue;
    }
    for (; newline !== -1 && newline < match.index; newline = text.indexOf('\n', newline + 1)) line += 1;
    if (hashes !== undefined) {
      const end = text.indexOf(`"${hashes}`, pattern.lastIndex);
      pattern.lastIndex = end === -1 ? text.length : end + 1 + hashes.length;
    }
    values.push(valueOf(found, hashes));
    lines.push(line);
  }
  return { values, lines };
}

function valueOf(found, hashes) {
  if (hashes !== undefined || found.endsWith('"')) return '"';
  if (found.length > 1 && found.endsWith("'")) return "'";
  if (found.length > 1 && found.startsWith("'")) return "'_";
  return found >= '0' && found <= '9\uffff' ? '0' : found;
}

/** The tokens of a file, read once. */
export const tokensOf = (tree, file) => tree.cached(`tokens ${file}`, () => tokens(tree.text(file)));

export const isIdent = (value) => value !== undefined && /^(?:r#)?[A-Za-z_]/.test(value);

/** The index after the bracket that closes the one at `open`. */
export function afterBlock(values, open) {
  let depth = 0;
  for (let at = open; at < values.length; at += 1) {
    const value = values[at];
    if (value === '{' || value === '(' || value === '[') depth += 1;
    else if (value === '}' || value === ')' || value === ']') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return values.length;
}

/** Block comments nest. */
function endOfComment(text, start) {
  let depth = 0;
  const mark = /\/\*|\*\//g;
  mark.lastIndex = start;
  for (let match = mark.exec(text); match; match = mark.exec(text)) {
    depth += match[0] === '/*' ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return text.length;
}
