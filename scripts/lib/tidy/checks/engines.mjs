// An engine is named in the store and in what tests it, nowhere else.

const allowed = /^crates\/(?:store|sql|testkit|server)\/|^crates\/query\/(?:cases|tests)\//;
const name =
  /Engine::(?:Sqlite|Postgres)|\bis_(?:sqlite|postgres)|\b(?:rusqlite|tokio_postgres|deadpool_postgres)\b|Dialect::(?:Sqlite|Postgres)/;

export function engines(tree, find) {
  for (const file of tree.files) {
    if (!/^crates\/[^/]+\/src\/.*\.rs$/.test(file) || allowed.test(file)) continue;
    const lines = tree.lines(file);
    // A unit test may name an engine; what it tests may not.
    const end = lines.findIndex((it) => it.startsWith('#[cfg(test)]'));
    lines.slice(0, end === -1 ? undefined : end).forEach((line, index) => {
      if (name.test(line.replace(/\/\/.*$/, ''))) find(file, index + 1, 'an engine is named outside the store');
    });
  }
}
