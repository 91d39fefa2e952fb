// Few files stand directly in the `src` of the two large crates: every noun has its folder.

const limit = 8;
const crates = ['crates/content', 'crates/identity'];

export function ground(tree, find) {
  for (const crate of crates) {
    const files = tree.files.filter(
      (it) => it.startsWith(`${crate}/src/`) && !it.slice(crate.length + 5).includes('/'),
    );
    if (files.length > limit) find(`${crate}/src`, 0, `${files.length} files; directly in it are at most ${limit}`);
  }
}
