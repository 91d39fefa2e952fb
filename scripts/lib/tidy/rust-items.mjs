// What a Rust file declares and mentions: modules, definitions, imports, paths, method calls. Code under
// `#[cfg(test)]` is left out.
import { afterBlock, isIdent } from './rust-tokens.mjs';

const defining = new Set(['fn', 'struct', 'enum', 'union', 'trait', 'type', 'const', 'static']);

/** A module as far as one file shows it. */
function emptyModule(name) {
  return {
    name,
    /** Modules in files of their own: `{ name, isTest }`. */
    files: [],
    /** Modules written inside this one. */
    inline: [],
    /** Names of definitions, with their line. */
    definitions: new Map(),
    /** `{ name, path, line, isPublic, isGlob }` */
    imports: [],
    /** Paths of two segments and more: `{ path, line, implType }`. */
    paths: [],
    /** Words that stand alone, with the first line of each. */
    words: new Map(),
  };
}

/** The modules, impls, calls and macros of one file's tokens. */
export function itemsOf({ values, lines }) {
  const file = {
    root: emptyModule(''),
    /** Inherent impls: `{ type, line, methods: [{ name, line, isPublic }] }`. */
    impls: [],
    /** `.name(` with the word before the dot: `{ name, line, receiver, implType }`. */
    calls: [],
    /** Names of all functions and methods. */
    functions: [],
    /** Names of macros that are defined here. */
    macros: [],
    /** Macros that are called by a bare name: `{ name, line }`. */
    expansions: [],
  };
  readItems(file.root, 0, values.length);
  return file;

  /** Items of a module between two indexes. */
  function readItems(module, from, to) {
    let at = from;
    let isTest = false;
    let isPublic = false;
    while (at < to) {
      const value = values[at];
      if (value === '#') {
        const open = values[at + 1] === '!' ? at + 2 : at + 1;
        const end = afterBlock(values, open);
        isTest ||= isTestAttribute(open);
        at = end;
        continue;
      }
      if (value === 'pub') {
        isPublic = true;
        at = values[at + 1] === '(' ? afterBlock(values, at + 1) : at + 1;
        continue;
      }
      if (value === 'mod' && isIdent(values[at + 1])) {
        const name = values[at + 1];
        if (values[at + 2] === ';') {
          module.files.push({ name, isTest });
          at += 3;
        } else {
          const end = afterBlock(values, at + 2);
          if (!isTest) {
            const inner = emptyModule(name);
            module.inline.push(inner);
            readItems(inner, at + 3, end - 1);
          }
          at = end;
        }
      } else if (value === 'use') {
        const end = endOfUse(at);
        if (!isTest) readUse(module, at + 1, end, isPublic);
        at = end + 1;
      } else {
        const end = endOfItem(at, to);
        if (!isTest) readItem(module, at, end);
        at = end;
      }
      isTest = false;
      isPublic = false;
    }
  }

  /** `#[cfg(test)]`, also with more conditions: `#[cfg(all(test, unix))]`. */
  function isTestAttribute(open) {
    if (values[open + 1] !== 'cfg') return false;
    const conditions = values.slice(open + 3, afterBlock(values, open + 2) - 1);
    return (
      conditions[0] === 'test' ||
      (conditions[0] === 'all' && conditions.includes('test') && !conditions.includes('not'))
    );
  }

  function endOfUse(at) {
    while (at < values.length && values[at] !== ';') at += 1;
    return at;
  }

  /** After the `;` or the block that ends an item. */
  function endOfItem(from, to) {
    // `const X: T = Foo { .. };` and `static` end with a semicolon, whatever blocks they hold.
    const untilSemicolon =
      values[from] === 'static' ||
      values[from] === 'type' ||
      (values[from] === 'const' &&
        values[from + 1] !== 'fn' &&
        !['unsafe', 'async', 'extern'].includes(values[from + 1]));
    for (let at = from; at < to;) {
      const value = values[at];
      if (value === ';') return at + 1;
      if (value === '{') {
        const end = afterBlock(values, at);
        if (!untilSemicolon) return end;
        at = end;
      } else if (value === '(' || value === '[') at = afterBlock(values, at);
      else at += 1;
    }
    return to;
  }

  function readItem(module, from, to) {
    let at = from;
    while (['async', 'unsafe', 'extern', 'default', '"'].includes(values[at])) at += 1;
    if (values[at] === 'const' && ['fn', 'unsafe', 'async', 'extern'].includes(values[at + 1])) {
      at += 1;
      while (['async', 'unsafe', 'extern', '"'].includes(values[at])) at += 1;
    }
    const value = values[at];
    if (defining.has(value) && isIdent(values[at + 1])) {
      const name = values[at + 1] === 'mut' ? values[at + 2] : values[at + 1];
      module.definitions.set(name, lines[at]);
      if (value === 'fn') file.functions.push(name);
      readBody(module, at + 2, to);
    } else if (value === 'macro_rules') {
      module.definitions.set(values[at + 2], lines[at]);
      file.macros.push(values[at + 2]);
      readBody(module, at + 3, to);
    } else if (value === 'impl') {
      const type = inherentType(at + 1, to);
      if (type) readImpl(module, type, at, to);
      else readBody(module, at + 1, to);
    } else {
      // The items that a macro makes are named as they stand: `limits! { pub struct Limits { … } }`.
      if (values[at + 1] === '!')
        for (let inner = at + 2; inner < to; inner += 1)
          if (['struct', 'enum', 'fn', 'static', 'const', 'type'].includes(values[inner]) && isIdent(values[inner + 1]))
            module.definitions.set(values[inner + 1], lines[inner]);
      readBody(module, at, to);
    }
  }

  /** The last word of the type of `impl Type {`; nothing for `impl Trait for Type`. */
  function inherentType(from, to) {
    let angle = 0;
    let type;
    for (let at = from; at < to; at += 1) {
      const value = values[at];
      if (value === '<') angle += 1;
      else if (value === '>') angle -= 1;
      else if (angle > 0) continue;
      else if (value === 'for') return undefined;
      else if (value === 'where' || value === '{') return type;
      else if (isIdent(value)) type = value;
    }
    return undefined;
  }

  function readImpl(module, type, from, to) {
    const block = { type, line: lines[from], methods: [] };
    file.impls.push(block);
    let at = from;
    while (values[at] !== '{') at += 1;
    readBody(module, from + 1, at, type);
    let isPublic = false;
    let isTest = false;
    for (at += 1; at < to - 1;) {
      const value = values[at];
      if (value === '#') {
        isTest ||= isTestAttribute(at + 1);
        at = afterBlock(values, at + 1);
      } else if (value === 'pub') {
        isPublic = true;
        at = values[at + 1] === '(' ? afterBlock(values, at + 1) : at + 1;
      } else {
        const end = endOfItem(at, to - 1);
        let name = at;
        while (name < end && values[name] !== 'fn') name += 1;
        if (!isTest) {
          if (name < end) file.functions.push(values[name + 1]);
          if (name < end) block.methods.push({ name: values[name + 1], line: lines[name], isPublic });
          readBody(module, name < end ? name + 2 : at, end, type);
        }
        at = end;
        isPublic = false;
        isTest = false;
      }
    }
  }

  /** Paths, calls and imports inside an item. */
  function readBody(module, from, to, implType) {
    for (let at = from; at < to;) {
      const value = values[at];
      if (value === '#' && values[at + 1] === '[') {
        const end = afterBlock(values, at + 1);
        at = isTestAttribute(at + 1) ? endOfItem(end, to) : end;
        continue;
      }
      if (value === 'use' && values[at + 1] !== '<') {
        const end = endOfUse(at);
        readUse(module, at + 1, end, false);
        at = end + 1;
        continue;
      }
      if (!isIdent(value)) {
        at += 1;
        continue;
      }
      const before = values[at - 1];
      if (before === '.') {
        if (values[at + 1] === '(' || values[at + 1] === '::')
          file.calls.push({ name: value, line: lines[at], receiver: values[at - 2], implType });
        at += 1;
        continue;
      }
      if (values[at + 1] === '!' && values[at + 2] !== '=') file.expansions.push({ name: value, line: lines[at] });
      if (values[at + 1] === '::' && isIdent(values[at + 2]) && before !== '::') {
        const path = [value];
        let next = at + 1;
        while (values[next] === '::' && isIdent(values[next + 1])) {
          path.push(values[next + 1]);
          next += 2;
        }
        module.paths.push({ path, line: lines[at], implType });
        mention(module, value, lines[at]);
        at = next;
        continue;
      }
      if (before === 'fn') file.functions.push(value);
      // In lower case a word is a variable's name more often than a function's, unless it is called.
      else if (/[A-Z]/.test(value) || values[at + 1] === '(' || values[at + 1] === '!')
        mention(module, value, lines[at]);
      at += 1;
    }
  }

  function mention(module, word, line) {
    if (!module.words.has(word)) module.words.set(word, line);
  }

  /** The leaves of a tree of imports, up to its `;` at `to`. */
  function readUse(module, from, to, isPublic) {
    let at = from;
    tree([]);

    function tree(prefix) {
      const path = [...prefix];
      if (values[at] === '::') at += 1;
      for (; at < to; at += 1) {
        const value = values[at];
        const line = lines[at];
        if (value === '{') {
          for (at += 1; at < to && values[at] !== '}';) {
            tree(path);
            if (values[at] === ',') at += 1;
          }
          at += 1;
          return;
        }
        if (value === '*') {
          at += 1;
          module.imports.push({ name: '*', path, line, isPublic, isGlob: true });
          return;
        }
        if (!isIdent(value)) return;
        if (value !== 'self' || path.length === 0) path.push(value);
        if (values[at + 1] === '::') {
          at += 1;
          continue;
        }
        let name = path.at(-1);
        at += 1;
        if (values[at] === 'as') {
          name = values[at + 1];
          at += 2;
        }
        module.imports.push({ name, path, line, isPublic, isGlob: false });
        return;
      }
    }
  }
}
