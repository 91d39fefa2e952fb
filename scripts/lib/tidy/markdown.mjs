// Headings, anchors and links of Markdown documents.

/** `{ title, number, anchor, line }` of each heading; a number is the one that a title begins with. */
export function headingsOf(tree, file) {
  return tree.cached(`headings ${file}`, () => {
    const taken = new Map();
    return proseLines(tree, file).flatMap(({ text, line }) => {
      const match = /^#{1,6} +(.+?) *#*$/.exec(text);
      if (!match) return [];
      const title = match[1].replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
      const slug = slugOf(title);
      const before = taken.get(slug) ?? 0;
      taken.set(slug, before + 1);
      const number = /^(\d+(?:\.\d+)*)\.? /.exec(title)?.[1];
      return [{ title, number, anchor: before ? `${slug}-${before}` : slug, line }];
    });
  });
}

/** What a heading is called in an address, as forges make it. */
const slugOf = (title) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');

/** `{ target, line }` of each link, images included. */
export function linksOf(tree, file) {
  return proseLines(tree, file).flatMap(({ text, line }) => {
    const prose = text.replace(/`[^`]*`/g, (it) => ' '.repeat(it.length));
    return [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)|^\[[^\]]+\]: +(\S+)/g)].map((it) => ({
      target: it[1] ?? it[2],
      line,
    }));
  });
}

/** The lines outside of blocks of code. */
function proseLines(tree, file) {
  let fence;
  const prose = [];
  tree.lines(file).forEach((text, index) => {
    const mark = /^ *(```+|~~~+)/.exec(text)?.[1];
    if (mark && (!fence || mark.startsWith(fence))) fence = fence ? undefined : mark;
    else if (!fence) prose.push({ text, line: index + 1 });
  });
  return prose;
}
