// The crates of the repository: their manifests, their targets, and the modules of each target.
import { dirname, join } from 'node:path/posix';
import { itemsOf } from './rust-items.mjs';
import { tokensOf } from './rust-tokens.mjs';

/**
 * Every crate that the tree holds: `{ folder, manifest, name, library, hasSource, dependencies, targets }`. A target is
 * `{ kind, root }` with `kind` `src` or `tests` and `root` its tree of modules.
 */
export function cratesOf(tree) {
  return tree.cached('crates', () =>
    tree.files
      .filter((it) => /(?:^|\/)Cargo\.toml$/.test(it) && /^\[package\]/m.test(tree.text(it)))
      .map((manifest) => crateOf(tree, manifest)),
  );
}

function crateOf(tree, manifest) {
  const folder = dirname(manifest);
  const text = tree.text(manifest);
  const name = /^\[package\][^[]*?^name *= *"([^"]+)"/m.exec(text)[1];
  const inside = tree.files.filter((it) => it.startsWith(`${folder}/`) && it.endsWith('.rs'));
  const declared = [...text.matchAll(/^\[(\[bin\]|\[test\]|lib)\][^[]*?^path *= *"([^"]+)"/gm)].map((it) => ({
    kind: it[1] === '[test]' ? 'tests' : 'src',
    file: join(folder, it[2]),
  }));
  const found = inside
    .map((file) => ({ file, path: file.slice(folder.length + 1) }))
    .filter((it) => /^(?:src\/(?:lib|main)|src\/bin\/[^/]+|tests\/[^/]+)\.rs$/.test(it.path))
    .map((it) => ({ kind: it.path.startsWith('tests/') ? 'tests' : 'src', file: it.file }));
  const roots = new Map([...found, ...declared].filter((it) => tree.has(it.file)).map((it) => [it.file, it]));
  // A crate without `src` is one of tests, with the library that Cargo asks for.
  const hasSource = inside.some((it) => it.startsWith(`${folder}/src/`));
  return {
    folder,
    manifest,
    name,
    hasSource,
    library: name.replaceAll('-', '_'),
    dependencies: dependenciesOf(text),
    targets: [...roots.values()].map((it) => ({
      kind: hasSource ? it.kind : 'tests',
      root: moduleOf(tree, it.file, dirname(it.file), undefined, 'crate'),
    })),
  };
}

/** What a manifest names: `{ name, line, isTest }`. */
function dependenciesOf(text) {
  let section = '';
  const found = [];
  text.split('\n').forEach((line, index) => {
    const head = /^\[(.+)\]\s*$/.exec(line);
    if (head) section = head[1];
    const key = /^([\w-]+)\s*(?:\.[\w.]+\s*)?=/.exec(line);
    if (key && /(?:^|\.)(?:dev-|build-)?dependencies$/.test(section) && !section.startsWith('workspace'))
      found.push({ name: key[1], line: index + 1, isTest: section.endsWith('dev-dependencies') });
  });
  return found;
}

/** A module with what its file declares, its parent, and its children by name. */
function moduleOf(tree, file, folder, parent, name) {
  const items = tree.cached(`items ${file}`, () => itemsOf(tokensOf(tree, file)));
  return assembled(items.root, { tree, file, items, folder, parent, name });
}

function assembled(declared, { tree, file, items, folder, parent, name }) {
  const module = {
    ...declared,
    file,
    items,
    parent,
    name,
    children: new Map(),
    isFile: !parent || parent.file !== file,
  };
  for (const it of declared.inline)
    module.children.set(
      it.name,
      assembled(it, { tree, file, items, folder: join(folder, it.name), parent: module, name: it.name }),
    );
  for (const it of declared.files) {
    if (it.isTest) continue;
    const child = [join(folder, `${it.name}.rs`), join(folder, it.name, 'mod.rs')].find((path) => tree.has(path));
    if (child) module.children.set(it.name, moduleOf(tree, child, join(folder, it.name), module, it.name));
  }
  return module;
}

/** A module and all below it. */
export function* modulesBelow(module) {
  yield module;
  for (const it of module.children.values()) yield* modulesBelow(it);
}
