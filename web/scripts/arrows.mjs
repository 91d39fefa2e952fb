/* ESLint's view of the arrows: who may import whom under web/ stands in the table of ARCHITECTURE.md, which scripts/tidy
 * reads as well. Here an import against it is marked where it is written. */
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path/posix';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Places by name, each with the places that it may use. A name without a slash is a sibling. */
export function readTable(text) {
  const block = /^```arrows\n([^]*?)^```/m.exec(text)?.[1];
  if (block === undefined) throw new Error('ARCHITECTURE.md has no block of code marked `arrows`');
  const lines = [...block.matchAll(/^(web\/[^\s:]+):(.*)$/gm)];
  return new Map(
    lines.map(([, place, names]) => {
      const parent = dirname(place);
      const uses = names.split(',').map((name) => name.trim());
      return [place, uses.filter(Boolean).map((name) => (name.includes('/') ? name : join(parent, name)))];
    }),
  );
}

/** The package of a file, and its folder below the package's `src`; the ground floor is called `src/*`. */
function placeOf(file) {
  const [, home, path] = /^(web\/(?:apps|packages)\/[^/]+)\/(.*)$/.exec(file) ?? [];
  if (home === undefined) return null;
  const folder = /^src\/([^/]+)\//.exec(path)?.[1];
  return { home, folder: path.startsWith('src/') ? `${home}/src/${folder ?? '*'}` : null };
}

const isTest = (file) => /\.test\.[a-z]+$|\/test\/|\.config\.[a-z]+$/.test(file);

/** What is wrong with an import, or null: `file` by its path from the root, `name` as it is written. */
export function refusal(table, file, name) {
  const from = placeOf(file);
  if (from === null) return null;
  const uses = (place, other) => place === other || (table.get(place) ?? []).includes(other);
  const known = [...table.keys()].find((place) => /^web\/\w+\/[^/]+$/.test(place) && packageName(place, name));
  if (known !== undefined) return uses(from.home, known) ? null : `${from.home} may not use ${known}.`;
  if (name.startsWith('@stoa/')) return `${name} has no line in the table of arrows.`;
  if (!name.startsWith('.')) return null;
  const to = placeOf(join(dirname(file), name));
  if (to?.home !== from.home) return 'Import another package by its name, not by its path.';
  const isFree = isTest(file) || from.folder === null || to.folder === null;
  // `main` puts an app together; the ground floor is everyone's.
  if (isFree || /\/src\/main\.tsx?$/.test(file) || to.folder.endsWith('/*')) return null;
  return uses(from.folder, to.folder) ? null : `${from.folder} may not use ${to.folder}.`;
}

function packageName(place, name) {
  const own = `@stoa/${place.split('/').at(-1)}`;
  return name === own || name.startsWith(`${own}/`);
}

/** The rule, for `plugins` of a configuration. */
export const arrows = {
  rules: {
    allowed: {
      meta: { type: 'problem', schema: [] },
      create(context) {
        const table = readTable(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'));
        const file = relative(root, context.filename);
        const check = ({ source }) => {
          if (typeof source?.value !== 'string') return;
          const message = refusal(table, file, source.value);
          if (message !== null) context.report({ node: source, message: `${message} See Arrows in ARCHITECTURE.md.` });
        };
        return {
          ImportDeclaration: check,
          ImportExpression: check,
          ExportNamedDeclaration: check,
          ExportAllDeclaration: check,
        };
      },
    },
  },
};
