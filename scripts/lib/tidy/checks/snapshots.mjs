// A snapshot is read by people when it changes, so its lines fit a screen.

const limit = 120;

export function snapshots(tree, find) {
  for (const file of tree.files)
    if (/(?:^|\/)snapshots\/|\.snap$/.test(file))
      tree.lines(file).forEach((line, index) => {
        const length = [...line].length;
        if (length > limit) find(file, index + 1, `${length} characters; a line of a snapshot has at most ${limit}`);
      });
}
