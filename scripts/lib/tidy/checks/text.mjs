// What a compiler does not see and a reader trips over, line by line.

const longest = 800;
// Written in pieces, so that this file does not find itself.
const unfinished = new RegExp(
  ['\\bTO' + 'DO\\b', '\\bFIX' + 'ME\\b', '\\bX' + 'XX\\b', '\\bto' + 'do!\\(', 'unimple' + 'mented!\\('].join('|'),
);
const switchedOff = new RegExp(
  [
    '#\\[ig' + 'nore',
    '\\b(?:it|test|describe)\\.(?:on' + 'ly|sk' + 'ip|to' + 'do)\\(',
    '@ts-ig' + 'nore',
    'eslint-dis' + 'able(?:-next-line)?\\s*$',
  ].join('|'),
);
const machinePath = /(?:^|[\s"'`(=:])\/(?:work|root|Users|home\/[a-z][\w-]*)\/[\w.]/;

export function text(tree, find) {
  for (const file of tree.files.filter(tree.isText)) {
    const lines = tree.lines(file);
    const isCode = /\.(?:rs|ts|tsx|mjs|js|cjs)$/.test(file);
    // What a program printed is read where it was printed from.
    const isWritten = /\.(?:rs|ts|tsx)$/.test(file) && !lines[0].startsWith('// Printed from ');
    if (isWritten && lines.length - 1 > longest)
      find(file, 0, `${lines.length - 1} lines; a file has at most ${longest}`);
    if (lines[0].startsWith('#!') && !tree.isExecutable(file)) find(file, 1, 'has a #! line and is not executable');
    lines.forEach((line, index) => {
      if (unfinished.test(line)) find(file, index + 1, 'unfinished work');
      if (isCode && switchedOff.test(line)) find(file, index + 1, 'a check that is switched off');
      if (machinePath.test(line)) find(file, index + 1, 'a path of one machine');
      if (/^(?:<{7}|>{7}) /.test(line)) find(file, index + 1, 'a merge that was not finished');
    });
  }
}
