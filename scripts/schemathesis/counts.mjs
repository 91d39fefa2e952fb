// How many operations answered with success.

/** @typedef {Record<string, Record<string, number>>} Counts  by `METHOD /path`, how often it answered with a status */

/**
 * @param {{ paths: Record<string, object> }} description
 * @param {Counts[]} runs
 */
export function succeeded({ paths }, runs) {
  const methods = ['get', 'put', 'post', 'delete', 'patch'];
  const operations = Object.entries(paths).flatMap(([path, it]) =>
    methods.filter((method) => method in it).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const statuses = (/** @type {string} */ operation) => runs.flatMap((it) => Object.keys(it[operation] ?? {}));
  const without = operations.filter((it) => !statuses(it).some((status) => status.startsWith('2')));
  const requests = runs.flatMap((it) => Object.values(it).flatMap((counted) => Object.values(counted)));
  const sum = requests.reduce((a, b) => a + b, 0);
  const good = operations.length - without.length;
  const isEnough = operations.length > 0 && good * 2 >= operations.length;
  const lines = without.map(
    (it) => `no success: ${it} (${[...new Set(statuses(it))].sort().join(', ') || 'not asked'})`,
  );
  lines.push(`${sum} requests; ${good} of ${operations.length} operations answered with success`);
  if (!isEnough) lines.push('at least half of them must');
  return { lines, isEnough };
}
