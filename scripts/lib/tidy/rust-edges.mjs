// Who uses whom in Rust: file by file, following paths, imports and re-exports to where a thing is defined.
import { cratesOf, modulesBelow } from './rust-crates.mjs';

/**
 * The uses inside and between crates:
 * - `files`: `{ from, to, line, what, kind }`, from a file to the file that defines what it uses. A re-export is no
 *   use, and neither is the declaration of a module.
 * - `paths`: `{ from, to, line, what }`, from a file to the file whose module the path names; a name that the
 *   crate's root gives away is taken to where the root has it from.
 * - `crates`: `{ from, to, line, kind }`, from a file to another crate's folder.
 */
export function rustEdges(tree) {
  return tree.cached('rust edges', () => {
    const crates = cratesOf(tree);
    const libraries = new Map(crates.map((it) => [it.library, it.folder]));
    const edges = { files: [], paths: [], crates: [] };
    for (const crate of crates) for (const target of crate.targets) targetEdges(target, { crate, libraries, edges });
    return edges;
  });
}

function targetEdges(target, { crate, libraries, edges }) {
  const { kind } = target;
  const modules = [...modulesBelow(target.root)];
  const files = new Map(modules.map((it) => [it.file, it.items]));
  const macros = new Map([...files].flatMap(([file, it]) => it.macros.map((name) => [name, file])));
  const spread = spreadMethods(modules, files);

  for (const module of modules) {
    const use = (found, line, what) => {
      if (!found) return;
      if (found.crate !== undefined) {
        if (libraries.has(found.crate))
          edges.crates.push({ from: module.file, to: libraries.get(found.crate), line, kind, crate });
        return;
      }
      const named = found.chain.find((it) => it.parent) ?? found.chain.at(-1);
      if (named.file !== module.file) edges.paths.push({ from: module.file, to: named.file, line, what });
      if (found.isItem) useFile(found.module.file, line, what);
    };
    const useFile = (to, line, what) => {
      if (to !== module.file) edges.files.push({ from: module.file, to, line, what, kind });
    };

    for (const it of module.imports) {
      if (it.isGlob) {
        const found = resolved(module, it.path);
        if (!found) continue;
        if (found.crate !== undefined) use(found, it.line, it.path.join('::'));
        else globUses(module, found, it, use);
        continue;
      }
      const found = resolved(module, it.path);
      if (!found) continue;
      if (it.isPublic && found.isItem) {
        // Given away and perhaps used as well.
        const line = module.words.get(it.name);
        if (line !== undefined) use(found, line, it.name);
        else if (found.crate === undefined && module.parent)
          use({ ...found, isItem: false }, it.line, it.path.join('::'));
      } else use(found, it.line, it.path.join('::'));
    }
    for (const it of module.paths) {
      const what = it.path.join('::');
      const found = it.path[0] === 'Self' ? undefined : resolved(module, it.path);
      use(found, it.line, what);
      const type = it.path[0] === 'Self' ? it.implType : found?.name;
      const file = type && spread.byType.get(`${type}::${it.path.at(-1)}`);
      if (file) {
        useFile(file, it.line, what);
        if (file !== module.file) edges.paths.push({ from: module.file, to: file, line: it.line, what });
      }
    }
  }

  for (const [from, items] of files) {
    for (const it of items.expansions) {
      const to = macros.get(it.name);
      if (to && to !== from) edges.files.push({ from, to, line: it.line, what: `${it.name}!`, kind });
    }
    for (const it of items.calls) {
      const to = spread.of(it);
      if (!to || to === from) continue;
      edges.files.push({ from, to, line: it.line, what: `.${it.name}()`, kind });
      edges.paths.push({ from, to, line: it.line, what: `.${it.name}()` });
    }
  }
}

/**
 * Methods in another file than their type's: a call of one is a use of that file. Without types a call is
 * known by its name when no other function of the crate has it, or by its receiver's.
 */
function spreadMethods(modules, files) {
  const typeFile = new Map();
  for (const module of modules) for (const name of module.definitions.keys()) typeFile.set(name, module.file);
  const count = new Map();
  for (const items of files.values()) for (const name of items.functions) count.set(name, (count.get(name) ?? 0) + 1);
  const byType = new Map();
  const byName = new Map();
  for (const [file, items] of files)
    for (const block of items.impls) {
      if (typeFile.get(block.type) === file) continue;
      for (const { name } of block.methods) {
        byType.set(`${block.type}::${name}`, file);
        if (count.get(name) === 1 && name.includes('_')) byName.set(name, file);
      }
    }
  const types = new Map([...byType.keys()].map((it) => it.split('::')[0]).map((it) => [snake(it), it]));
  return {
    byType,
    of(call) {
      const type = call.receiver === 'self' ? call.implType : types.get(call.receiver);
      return byType.get(`${type}::${call.name}`) ?? byName.get(call.name);
    },
  };
}

const snake = (name) => name.replace(/(?<=.)[A-Z]/g, '_$&').toLowerCase();

/** The names of a module that are used where all of them are imported. */
function globUses(module, target, it, use) {
  if (!target.isItem)
    for (const [name, line] of module.words) {
      if (module.definitions.has(name) || module.children.has(name)) continue;
      const found = lookUp(target.module, name, new Set());
      if (found) use(found, line, `${it.path.join('::')}::${name}`);
    }
  if (module.parent) use({ ...target, isItem: target.isItem && !it.isPublic }, it.line, `${it.path.join('::')}::*`);
}

/**
 * What a path leads to from a module: `{ crate }`, or `{ module, isItem, name, chain }` with the module that
 * defines the item (or is meant itself), and `chain` the modules through which its name was passed on.
 */
function resolved(module, path, seen = new Set()) {
  let at = 0;
  let found;
  const first = path[0];
  if (first === 'crate') {
    found = itself(rootOf(module));
    at = 1;
  } else if (first === 'self' || first === 'super') {
    let here = module;
    for (; path[at] === 'self' || path[at] === 'super'; at += 1) if (path[at] === 'super') here = here.parent ?? here;
    found = itself(here);
  } else {
    found = inScope(module, first, path.length > 1, seen);
    at = 1;
  }
  for (; found && at < path.length; at += 1) {
    if (found.crate !== undefined || found.isItem) return found;
    const inner = found.module;
    // What a macro defines is not seen here, but its module is named.
    const next = lookUp(inner, path[at], seen, at + 1 < path.length) ?? item(inner, path[at]);
    found = { ...next, chain: [...found.chain.slice(0, -1), ...(next.chain ?? [])] };
  }
  return found;
}

const itself = (module) => ({ module, isItem: false, chain: [module] });
const item = (module, name) => ({ module, isItem: true, name, chain: [module] });

function inScope(module, name, wantsModule, seen) {
  if (wantsModule && module.children.has(name)) return itself(module.children.get(name));
  const inner = deeper(seen, `${module.file} ${module.name} scope ${name}`);
  if (!inner) return undefined;
  const imported = module.imports.find((it) => it.name === name && !it.isGlob);
  if (imported && !(imported.path.length === 1 && imported.path[0] === name))
    return resolved(module, imported.path, inner);
  if (module.definitions.has(name)) return item(module, name);
  if (module.children.has(name)) return itself(module.children.get(name));
  for (const it of module.imports.filter((it) => it.isGlob)) {
    const target = resolved(module, it.path, inner);
    const found = target && target.crate === undefined && !target.isItem && lookUp(target.module, name, inner);
    if (found) return found;
  }
  return /^[a-z]/.test(name) ? { crate: name, chain: [] } : undefined;
}

/** A name inside a module, as seen from elsewhere. */
function lookUp(module, name, seen, wantsModule = false) {
  if (wantsModule && module.children.has(name)) return itself(module.children.get(name));
  if (module.definitions.has(name)) return item(module, name);
  if (module.children.has(name)) return itself(module.children.get(name));
  const inner = deeper(seen, `${module.file} ${module.name} name ${name}`);
  if (!inner) return undefined;
  const passedOn = (found) => found && { ...found, chain: [module, ...found.chain] };
  const imported = module.imports.find((it) => it.name === name && !it.isGlob);
  if (imported) return passedOn(resolved(module, imported.path, inner));
  for (const it of module.imports.filter((it) => it.isGlob)) {
    const target = resolved(module, it.path, inner);
    if (!target || target.crate !== undefined || target.isItem) continue;
    const found = passedOn(lookUp(target.module, name, inner));
    if (found) return found;
  }
  return undefined;
}

/** The steps so far with one more; nothing when it was taken before, as imports of each other's names do. */
const deeper = (seen, step) => (seen.has(step) ? undefined : new Set(seen).add(step));

function rootOf(module) {
  let root = module;
  while (root.parent) root = root.parent;
  return root;
}
