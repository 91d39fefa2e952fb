/** The modules of a QR code, row by row; the dark ones are true. */
export type Modules = readonly (readonly boolean[])[];

/** The dark modules as the path of an SVG, one piece for each run of a row. */
export function modulePath(modules: Modules): string {
  let path = '';
  modules.forEach((row, y) => {
    for (let x = 0; x < row.length; x += 1) {
      if (row[x] !== true) continue;
      const from = x;
      while (row[x + 1] === true) x += 1;
      const width = x + 1 - from;
      path += `M${from} ${y}h${width}v1h-${width}z`;
    }
  });
  return path;
}
