// Files that every reader of a repository looks for, and those that make a build repeatable.

const required = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'LICENSE-MIT',
  'LICENSE-APACHE',
  'Makefile',
  '.ci/run',
  'Cargo.lock',
  'web/package-lock.json',
  'conformance/package-lock.json',
  'e2e/package-lock.json',
];

export function requiredFiles(tree, find) {
  for (const it of required) if (!tree.has(it)) find(it, 0, 'is missing');
}
