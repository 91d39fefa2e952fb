// What was found, as lines for a reader.

/** Misfits that are printed; who has more of them mends these first. */
const PRINTED = 200;

/** @param {ReturnType<ReturnType<typeof import('./check.mjs').checker>['result']>} result */
export function report({ misfits, missing, idle, counts }) {
  const lines = misfits.slice(0, PRINTED).map(({ operation, text, count, where }) => {
    const times = count > 1 ? ` (${count} times)` : '';
    return `${operation}: ${text}${times}\n    first in ${where}`;
  });
  if (misfits.length > PRINTED) lines.push(`… and ${misfits.length - PRINTED} more`);
  for (const { operation, status, code } of missing) {
    const what = [status, code].filter((it) => it !== undefined).join(' ');
    if (what === '') lines.push(`${operation}: no test asks for it`);
    else if (operation === '*') lines.push(`any operation: no test brings about ${what}`);
    else lines.push(`${operation}: no test brings about ${what}`);
  }
  for (const it of idle) lines.push(`allowed, and nothing needs it any more: ${JSON.stringify(it)}`);
  if (counts.full > 0) lines.push(`${counts.full} files were full: what followed was not looked at`);
  lines.push(
    `${counts.exchanges} exchanges, ${counts.requests} with a request to compare, ${counts.cut} with an answer too long to ` +
      `be kept; ${counts.asked} of ${counts.operations} operations`,
  );
  return { lines, findings: misfits.length + missing.length + idle.length + counts.full };
}
