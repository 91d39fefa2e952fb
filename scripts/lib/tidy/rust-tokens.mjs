// Rust source as tokens: enough of the language to follow paths, items and blocks, with comments gone and
// literals reduced to what they are.

const pattern = new RegExp(
  [
    '(?<space>\\s+)',
    '(?<line>//[^\\n]*)',
    '(?<block>/\\*)',
    '(?<raw>(?:br|cr|r)(?<hashes>#*)")',
    '(?<string>[bc]?"(?:[^"\\\\]|\\\\[^])*")',
    "(?<char>b?'(?:[^'\\\\\\n]|\\\\(?:u\\{[^}]*\\}|x..|.))')",
    "(?<lifetime>'[A-Za-z_]\\w*)",
    '(?<ident>(?:r#)?[A-Za-z_]\\w*)',
    '(?<number>\\d[\\w]*(?:\\.\\d[\\w]*)?)',
    '(?<punct>::|->|=>|\\.\\.=|\\.\\.|[^])',
  ].join('|'),
  'gy',
);

/**
 * The tokens of a source text, as `{ values, lines, spans }` of equal length. A string is `"`, a character
 * `'`, a lifetime `'_`, a number `0`; every other token is itself. `spans` holds each token's offset.
 */
export function tokens(text) {
  const values = [];
  const lines = [];
  const spans = [];
  let line = 1;
  let counted = 0;
  pattern.lastIndex = 0;
  const lineAt = (offset) => {
    for (let at = text.indexOf('\n', counted); at !== -1 && at < offset; at = text.indexOf('\n', counted)) {
      line += 1;
      counted = at + 1;
    }
    return line;
  };
  while (pattern.lastIndex < text.length) {
    const offset = pattern.lastIndex;
    const { groups } = pattern.exec(text);
    if (groups.space !== undefined || groups.line !== undefined) continue;
    if (groups.block !== undefined) {
      pattern.lastIndex = endOfComment(text, offset);
      continue;
    }
    let value = groups.ident ?? groups.punct;
    if (groups.raw !== undefined) {
      const end = text.indexOf(`"${groups.hashes}`, pattern.lastIndex);
      pattern.lastIndex = end === -1 ? text.length : end + 1 + groups.hashes.length;
      value = '"';
    } else if (groups.string !== undefined) value = '"';
    else if (groups.char !== undefined) value = "'";
    else if (groups.lifetime !== undefined) value = "'_";
    else if (groups.number !== undefined) value = '0';
    values.push(value);
    lines.push(lineAt(offset));
    spans.push(offset);
  }
  return { values, lines, spans };
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
