// Who imports whom under web/: static and dynamic imports, types included, followed to files. Tests are left out.
import { dirname, join } from 'node:path/posix';

const source = /^web\/(?:apps|packages)\/[^/]+\/.*\.(?:ts|tsx|mjs|js|css)$/;
const test = /\.test\.[a-z]+$|\/src\/test\/|\.config\.[a-z]+$/;
const imported =
  /^\s*(?:import|export)\b(?:[^'";]*?\bfrom)?\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]|@import\s+['"]([^'"]+)['"]/gm;

export const isWebTest = (file) => test.test(file);

/** The packages and apps of the workspace: `{ folder, name, entry, dependencies }`. */
export function packagesOf(tree) {
  return tree.cached('packages', () =>
    tree.files
      .filter((it) => /^web\/(?:apps|packages)\/[^/]+\/package\.json$/.test(it))
      .map((manifest) => {
        const json = JSON.parse(tree.text(manifest));
        const lines = tree.text(manifest).split('\n');
        const names = Object.keys({ ...json.dependencies, ...json.peerDependencies, ...json.devDependencies });
        return {
          folder: dirname(manifest),
          manifest,
          name: json.name,
          exports: json.exports ?? {},
          dependencies: names.map((name) => ({ name, line: lines.findIndex((it) => it.includes(`"${name}":`)) + 1 })),
        };
      }),
  );
}

/** `{ from, to, line, what }` from file to file. */
export function webEdges(tree) {
  return tree.cached('web edges', () => {
    const packages = packagesOf(tree);
    const edges = [];
    for (const from of tree.files) {
      if (!source.test(from) || isWebTest(from)) continue;
      const text = tree.text(from);
      for (const match of text.matchAll(imported)) {
        const what = match[1] ?? match[2] ?? match[3];
        const to = what.startsWith('.') ? file(tree, join(dirname(from), what)) : exported(tree, packages, what);
        if (to && to !== from) {
          const at = match.index + match[0].search(/\S/);
          edges.push({ from, to, line: text.slice(0, at).split('\n').length, what });
        }
      }
    }
    return edges;
  });
}

function file(tree, path) {
  const base = path.replace(/\.js$/, '');
  return [path, `${path}.ts`, `${path}.tsx`, `${base}.ts`, `${base}.tsx`, `${path}/index.ts`, `${path}/index.tsx`].find(
    (it) => tree.has(it),
  );
}

function exported(tree, packages, name) {
  const found = packages.find((it) => name === it.name || name.startsWith(`${it.name}/`));
  if (!found) return undefined;
  const key = `.${name.slice(found.name.length)}`;
  const target = (value) => (typeof value === 'string' ? value : (value?.['stoa-source'] ?? value?.default));
  const exact = target(found.exports[key]);
  const wild = Object.keys(found.exports).find((it) => it.endsWith('*') && key.startsWith(it.slice(0, -1)));
  const path = exact ?? (wild && target(found.exports[wild]).replace('*', key.slice(wild.length - 1)));
  return (path && file(tree, join(found.folder, path))) || `${found.folder}/package.json`;
}
