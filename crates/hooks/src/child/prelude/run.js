// The world of a hook: what it finds beside the language, how its arguments are made, and how its answer is told.
// `native` is what only the host can do: print(text), uuid(), and how long an answer may be: most. It answers {load, run, begin, tests}. What code may change later is taken
// from the language first; code that breaks its own world only breaks its own answers, which are checked by the host.
(function (native, builders) {
  'use strict';
  const { isArray } = Array;
  const { defineProperty, hasOwn: has, is, keys } = Object;
  const { isFinite, isNaN } = Number;
  const { parse, stringify } = JSON;
  const { Date, Error, InternalError, String, TypeError, Uint8Array } = globalThis;
  const timeOf = Function.prototype.call.bind(Date.prototype.getTime);
  const isoOf = Function.prototype.call.bind(Date.prototype.toISOString);
  const cleaned = Function.prototype.call.bind(String.prototype.toWellFormed);
  const cut = Function.prototype.call.bind(String.prototype.slice);
  const { most, print, uuid } = native;
  const MOST_TEXT = 4096;

  // What an argument is made into, and what an answer must be, where it isn't an item.
  const FORMS = {
    beforeRemove: { answers: 'text' },
    beforeGet: { answers: 'text' },
    beforeQuery: { takes: 'query', answers: 'query' },
    beforeCount: { takes: 'query', answers: 'query' },
    beforeDistinct: { takes: 'distinct', answers: 'distinct' },
    afterCount: { answers: 'number' },
    afterDistinct: { answers: 'any' },
    onFailure: { takes: 'error', answers: 'any' },
  };
  const ITEM = { answers: 'object' };

  let hooks;

  function load(namespace) {
    hooks = namespace;
    return stringify(keys(namespace).map((name) => ({ name, callable: typeof namespace[name] === 'function' })));
  }

  // From now on tests may be named, which are called in place of hooks.
  function begin() {
    hooks = { __proto__: null };
    defineProperty(globalThis, 'test', { ...OPEN, value: test });
    defineProperty(globalThis, 'equal', { ...OPEN, value: equal });
  }

  function tests() {
    return stringify(keys(hooks).map((name) => ({ name, callable: true })));
  }

  function test(name, run) {
    if (typeof name !== 'string' || typeof run !== 'function') throw new TypeError('test(name, function) is expected');
    if (name in hooks) throw new TypeError(`two tests are called ${short(name)}`);
    defineProperty(hooks, name, { ...OPEN, value: run });
  }

  function equal(actual, expected) {
    if (!alike(actual, expected)) throw new Error(`${short(shown(actual))} is not ${short(shown(expected))}`);
  }

  function alike(one, other) {
    if (one === null || other === null || typeof one !== 'object' || typeof other !== 'object') {
      return one === other || is(one, other);
    }
    if (one instanceof Date || other instanceof Date) {
      return one instanceof Date && other instanceof Date && is(timeOf(one), timeOf(other));
    }
    const names = keys(one);
    if (isArray(one) !== isArray(other) || names.length !== keys(other).length) return false;
    return names.every((name) => has(other, name) && alike(one[name], other[name]));
  }

  // Calls the hook and answers how that ended; of a promise it tells that to `tell` when it is settled. `current` is a member of the
  // context.
  function run(name, hook, argument, context, current, tell) {
    const form = FORMS[hook] ?? ITEM;
    let value;
    try {
      const told = read(context);
      if (current !== undefined) told.currentItem = read(current);
      value = hooks[name](take(form.takes, read(argument)), told);
      if (value === null || typeof value !== 'object' || typeof value.then !== 'function') {
        return fitting(answer(form.answers, value));
      }
    } catch (error) {
      return fitting(failure(error));
    }
    (async () => {
      let told;
      try {
        told = answer(form.answers, await value);
      } catch (error) {
        told = failure(error);
      }
      tell(fitting(told));
    })();
  }

  // What is too long is not told: the host would hold it beside the memory that code may have.
  function fitting(told) {
    return told.length > most ? '"tooLarge"' : told;
  }

  function take(form, value) {
    if (form === 'query') return builders.query(value);
    if (form === 'distinct') return builders.distinct(value);
    if (form !== 'error') return value;
    const error = new Error(value.message);
    for (const name of ['name', 'code']) {
      if (value[name] != null) defineProperty(error, name, { ...OPEN, value: value[name] });
    }
    return error;
  }

  const OPEN = { writable: true, configurable: true, enumerable: true };

  function answer(form, value) {
    const kept = keep(form, value);
    const text = kept === undefined ? undefined : write(kept);
    return text === undefined ? '"nothing"' : `{"value":${text}}`;
  }

  // What of an answer counts: nothing where it is of another kind.
  function keep(form, value) {
    if (form === 'query') return builders.wireOfQuery(value);
    if (form === 'distinct') return builders.wireOfDistinct(value);
    return IS[form](value) ? value : undefined;
  }

  const IS = {
    object: isItem,
    text: (value) => typeof value === 'string',
    number: (value) => typeof value === 'number' && isFinite(value),
    any: () => true,
  };

  function isItem(value) {
    return value !== null && typeof value === 'object' && !isArray(value) && !(value instanceof Date);
  }

  // An engine without memory for its own error throws null.
  function failure(error) {
    if (error === null || (error instanceof InternalError && error.message === 'out of memory')) return '"outOfMemory"';
    try {
      if (!(error instanceof Error)) return `{"thrown":${write(error) ?? 'null'}}`;
      const { name, message, code } = error;
      return stringify({ error: { name: short(name), message: short(message), code: codeOf(code) } });
    } catch {
      return '{"error":{"name":"Error","message":"What was thrown can\'t be told"}}';
    }
  }

  function codeOf(code) {
    return typeof code === 'number' && isFinite(code) ? code : typeof code === 'string' ? short(code) : undefined;
  }

  function short(text) {
    return cleaned(cut(String(text), 0, MOST_TEXT));
  }

  // As the client writes: dates in their wrapper, and one that is none as an empty object.
  function write(value) {
    return isSmallWithoutDates(value) ? stringify(value) : stringify(value, wrapped);
  }

  function wrapped(key, plain) {
    const raw = this[key];
    if (!(raw instanceof Date)) return plain;
    return isNaN(timeOf(raw)) ? {} : { $date: isoOf(raw) };
  }

  // Looking takes less than having each member go through a function. What is large or deep isn't looked at to its end, which
  // it may not have, and what makes its own text may make it of dates.
  const MOST_LOOKS = 1000;
  const MOST_DEPTH = 20;
  let looks;

  function isSmallWithoutDates(value) {
    looks = 0;
    return isWithoutDates(value, 0);
  }

  function isWithoutDates(value, depth) {
    if (value === null || typeof value !== 'object') return true;
    if (value instanceof Date || typeof value.toJSON === 'function' || depth > MOST_DEPTH) return false;
    if (isArray(value) && value.length > MOST_LOOKS) return false;
    const names = keys(value);
    looks += names.length + 1;
    if (looks > MOST_LOOKS) return false;
    for (let n = 0; n < names.length; n++) {
      const member = value[names[n]];
      const kind = typeof member;
      if (kind === 'function' || (kind === 'object' && !isWithoutDates(member, depth + 1))) return false;
    }
    return true;
  }

  // As the client reads: what is in a date's wrapper is a date.
  function read(text) {
    const value = parse(text);
    return text.includes('"$date"') ? revive(value) : value;
  }

  function revive(value) {
    if (value === null || typeof value !== 'object') return value;
    if (typeof value.$date === 'string') {
      const date = new Date(value.$date);
      if (!isNaN(timeOf(date))) return date;
    }
    // A member may be called __proto__, which an assignment would take for something else.
    for (const key of keys(value)) defineProperty(value, key, { ...OPEN, value: revive(value[key]) });
    return value;
  }

  function say(...values) {
    print(short(values.map(shown).join(' ')));
  }

  function shown(value) {
    if (typeof value === 'string') return value;
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    try {
      return write(value) ?? String(value);
    } catch {
      return '[not shown]';
    }
  }

  // What the first of so many bytes begins with.
  const LEADS = [0, 0xc0, 0xe0, 0xf0];

  function utf8(text) {
    const bytes = [];
    for (const character of cleaned(String(text))) {
      const point = character.codePointAt(0);
      const more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
      bytes.push(LEADS[more] | (point >> (6 * more)));
      for (let left = more - 1; left >= 0; left--) bytes.push(0x80 | ((point >> (6 * left)) & 0x3f));
    }
    return Uint8Array.from(bytes);
  }

  class TextEncoder {
    get encoding() {
      return 'utf-8';
    }
    encode(text = '') {
      return utf8(text);
    }
  }

  const given = {
    console: { log: say, info: say, warn: say, error: say, debug: say },
    crypto: { randomUUID: () => uuid() },
    TextEncoder,
  };
  for (const name of keys(given)) {
    defineProperty(globalThis, name, { ...OPEN, enumerable: false, value: given[name] });
  }
  return { load, run, begin, tests };
});
