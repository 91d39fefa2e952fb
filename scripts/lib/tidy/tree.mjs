// The files of a repository that a check may read: those that git tracks or would track.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Opens the repository at a folder. Texts are read once, and what checks derive from them is kept. */
export function openTree(folder) {
  const listed = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: folder,
    maxBuffer: 1 << 26,
  });
  const files = [...new Set(listed.toString().split('\0'))].filter(
    (it) => it && statSync(join(folder, it), { throwIfNoEntry: false })?.isFile(),
  );
  const present = new Set(files);
  const folders = new Set(files.flatMap((it) => [...it.matchAll(/\//g)].map(({ index }) => it.slice(0, index))));
  const bytes = new Map();
  const texts = new Map();
  const kept = new Map();
  const tree = {
    files,
    has: (file) => present.has(file),
    hasFolder: (path) => folders.has(path),
    isExecutable: (file) => (statSync(join(folder, file)).mode & 0o100) !== 0,
    /** Whether a file is one of text that people write. */
    isText: (file) => !/(?:^|\/)(?:package-lock\.json|Cargo\.lock)$/.test(file) && !tree.bytes(file).includes(0),
    bytes(file) {
      if (!bytes.has(file)) bytes.set(file, readFileSync(join(folder, file)));
      return bytes.get(file);
    },
    text(file) {
      if (!texts.has(file)) texts.set(file, tree.bytes(file).toString());
      return texts.get(file);
    },
    lines: (file) => tree.cached(`lines ${file}`, () => tree.text(file).split('\n')),
    cached(key, make) {
      if (!kept.has(key)) kept.set(key, make());
      return kept.get(key);
    },
  };
  return tree;
}
