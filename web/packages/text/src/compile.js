/** Compiles the texts of a language (ICU MessageFormat) and says what is wrong with them, beside the English ones. */
import compile from 'icu-minify/compile';

/** @typedef {{ readonly [key: string]: string | Source }} Source */
/** @typedef {string | readonly unknown[]} Compiled */
/** @typedef {{ [key: string]: Compiled | CompiledTexts }} CompiledTexts */
/** @typedef {'text' | 'number' | 'date' | 'select' | 'tag'} Kind what has to be given for an argument */
/** @typedef {{ kinds: Map<string, Kind>, plurals: Map<string, [Intl.PluralRuleType, string[]][]> }} Arguments */

/**
 * The compiled texts, and one sentence for each problem: a key that is missing or too many, a text that is empty or no
 * ICU message, arguments that are not those of the English text, plural forms that are not those of the language.
 * @param {Source} texts @param {Source} english @param {string} tag of the language
 * @returns {{ compiled: CompiledTexts, problems: string[] }}
 */
export function compileTexts(texts, english, tag) {
  /** @type {string[]} */
  const problems = [];
  const compiled = branch(texts, english, '');
  return { compiled, problems };

  /** @param {Source} mine @param {Source} model @param {string} path @returns {CompiledTexts} */
  function branch(mine, model, path) {
    /** @type {CompiledTexts} */
    const result = {};
    for (const key of Object.keys(model)) if (!Object.hasOwn(mine, key)) problems.push(`${path}${key} is missing`);
    for (const [key, text] of Object.entries(mine)) {
      const wanted = Object.hasOwn(model, key) ? model[key] : undefined;
      if (wanted === undefined) problems.push(`${path}${key} does not exist in English`);
      else if (typeof text === 'string' && typeof wanted === 'string') result[key] = leaf(text, wanted, path + key);
      else if (typeof text === 'object' && typeof wanted === 'object')
        result[key] = branch(text, wanted, `${path}${key}.`);
      else problems.push(`${path}${key} is ${typeof text === 'string' ? 'one text' : 'several texts'}, unlike English`);
    }
    return result;
  }

  /** @param {string} text @param {string} model @param {string} path @returns {Compiled} */
  function leaf(text, model, path) {
    if (text.trim() === '') problems.push(`${path} is empty`);
    try {
      const message = /** @type {Compiled} */ (compile(text));
      const used = argumentsOf(message);
      const wanted = argumentsOf(/** @type {Compiled} */ (compile(model)));
      problems.push(...differences(used, wanted, tag).map((problem) => `${path} ${problem}`));
      return message;
    } catch (error) {
      problems.push(`${path} is not an ICU message: ${error instanceof Error ? error.message : String(error)}`);
      return '';
    }
  }
}

/** @param {Arguments} used @param {Arguments} wanted @param {string} tag @returns {string[]} */
function differences(used, wanted, tag) {
  const problems = [];
  for (const [name, kind] of wanted.kinds)
    if (used.kinds.get(name) !== kind) problems.push(`does not use the ${kind} {${name}}`);
  for (const [name, kind] of used.kinds)
    if (wanted.kinds.get(name) !== kind) problems.push(`uses the ${kind} {${name}}, which English does not`);
  const inflects = categories(tag, 'cardinal').length > 1;
  for (const name of wanted.plurals.keys())
    if (inflects && !used.plurals.has(name)) problems.push(`has no plural forms for {${name}}`);
  for (const [name, plurals] of used.plurals) {
    for (const [type, forms] of plurals) {
      const needed = categories(tag, type);
      for (const form of needed) if (!forms.includes(form)) problems.push(`has no form "${form}" for {${name}}`);
      for (const form of forms)
        if (!form.startsWith('=') && !needed.includes(form))
          problems.push(`has a form "${form}" for {${name}}, which the language never uses`);
    }
  }
  return problems;
}

/** The plural forms of a language as CLDR knows them. @param {string} tag @param {Intl.PluralRuleType} type */
const categories = (tag, type) =>
  /** @type {string[]} */ (new Intl.PluralRules(tag, { type }).resolvedOptions().pluralCategories);

/** What a compiled message takes. @param {Compiled} message @returns {Arguments} */
function argumentsOf(message) {
  /** @type {Arguments} */
  const found = { kinds: new Map(), plurals: new Map() };
  visit(message);
  return found;

  /** @param {unknown} node a text, `#`, a list of nodes, or `[name, type, …]` */
  function visit(node) {
    if (Array.isArray(node)) for (const each of node) if (Array.isArray(each)) argument(each);
  }

  /** @param {unknown[]} node */
  function argument([first, type, ...rest]) {
    const name = String(first);
    if (type === undefined) take(name, 'text');
    else if (typeof type !== 'number' || type === POUND) {
      take(name, 'tag');
      visit([type, ...rest]);
    } else if (type === PLURAL || type === ORDINAL || type === SELECT) {
      const options = /** @type {Record<string, unknown>} */ (rest[0]);
      take(name, type === SELECT ? 'select' : 'number');
      if (type !== SELECT) {
        const known = found.plurals.get(name) ?? [];
        found.plurals.set(name, [...known, [type === PLURAL ? 'cardinal' : 'ordinal', Object.keys(options)]]);
      }
      for (const option of Object.values(options)) visit(option);
    } else take(name, type === NUMBER ? 'number' : 'date');
  }

  /** @param {string} name @param {Kind} kind a plain `{n}` beside a plural of `n` shows the number */
  function take(name, kind) {
    if (kind !== 'text' || !found.kinds.has(name)) found.kinds.set(name, kind);
  }
}

/** The types of nodes in what icu-minify compiles to. */
const [POUND, SELECT, PLURAL, ORDINAL, NUMBER] = [0, 1, 2, 3, 4];
