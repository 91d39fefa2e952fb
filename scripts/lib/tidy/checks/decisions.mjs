// Decisions have numbers of their own, and each has all its parts.

const headings = ['Context', 'Choice', 'Alternatives', 'Consequences'];

export function decisions(tree, find) {
  const numbers = new Map();
  for (const file of tree.files.filter((it) => it.startsWith('decisions/'))) {
    const match = /^decisions\/(\d{4})-[a-z0-9-]+\.md$/.exec(file);
    if (!match) {
      find(file, 0, 'a decision is called NNNN-title.md');
      continue;
    }
    if (numbers.has(match[1])) find(file, 0, `has the number of ${numbers.get(match[1])}`);
    numbers.set(match[1], file);
    const there = [...tree.text(file).matchAll(/^## (.+)$/gm)].map((it) => it[1].trim());
    const missing = headings.filter((it) => !there.includes(it));
    if (missing.length) find(file, 0, `lacks the heading ${missing.join(', ')}`);
  }
}
