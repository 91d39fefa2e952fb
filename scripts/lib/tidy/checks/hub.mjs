// The two types that others work with have the methods that others call, and no more: what only a crate itself
// needs is a function of its folder.
import { cratesOf, modulesBelow } from '../rust-crates.mjs';
import { isIdent, tokensOf } from '../rust-tokens.mjs';

const hubs = { 'crates/identity': 'Identity', 'crates/content': 'Content' };

export function hub(tree, find) {
  const counts = [];
  for (const crate of cratesOf(tree).filter((it) => hubs[it.folder])) {
    const type = hubs[crate.folder];
    const called = callsOutside(tree, `${crate.folder}/src/`, type);
    const files = new Map(
      crate.targets
        .filter((it) => it.kind === 'src')
        .flatMap((it) => [...modulesBelow(it.root)])
        .map((it) => [it.file, it.items]),
    );
    let count = 0;
    for (const [file, items] of files)
      for (const { name, line } of items.impls.filter((it) => it.type === type).flatMap((it) => it.methods)) {
        count += 1;
        if (!called.has(name))
          find(file, line, `no other crate calls ${type}::${name}: make it a function of its folder`);
      }
    counts.push(`${type} has ${count} methods`);
  }
  return counts.join(', ');
}

/** Names that are called as methods, or on the type, in files outside a folder. */
function callsOutside(tree, folder, type) {
  const names = new Set();
  for (const file of tree.files) {
    if (!file.endsWith('.rs') || file.startsWith(folder)) continue;
    const { values } = tokensOf(tree, file);
    for (let at = 1; at < values.length; at += 1)
      if (isIdent(values[at]) && (values[at - 1] === '.' || (values[at - 1] === '::' && values[at - 2] === type)))
        names.add(values[at]);
  }
  return names;
}
