// Writes into the run's own database beside the server, for what no call of the server writes.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';

/** @import { Run } from './types.d.ts' */

// Node 20 has no SQLite; Python always does. The schema has its name of PostgreSQL.
const PYTHON = `
import json, sqlite3, sys
file, sql, values = json.load(sys.stdin)
database = sqlite3.connect(':memory:', timeout=10)
database.execute('attach ? as stoa', [file])
done = database.execute(sql, {str(n + 1): value for n, value in enumerate(values)})
assert done.rowcount == 1, f'{done.rowcount} rows'
database.commit()
`;

/**
 * Writes one row of the run's site. The same text for both engines, with `$1` and so on for the values.
 * @param {Run} run
 * @param {string} sql
 * @param {(string | number)[]} values
 */
export async function writeRow(run, sql, values) {
  if (run.databaseUrl === undefined) return writeToFile(join(run.dataDir, 'sites', `${run.siteId}.db`), sql, values);
  const client = new pg.Client({ connectionString: run.databaseUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query(sql, values);
    if (rowCount !== 1) throw new Error(`${rowCount} rows: ${sql}`);
  } finally {
    await client.end();
  }
}

/** @param {string} file @param {string} sql @param {(string | number)[]} values */
async function writeToFile(file, sql, values) {
  const child = spawn('python3', ['-c', PYTHON], { stdio: ['pipe', 'inherit', 'inherit'] });
  child.stdin.end(JSON.stringify([file, sql, values]));
  const code = await new Promise((done, fail) => child.once('error', fail).once('exit', done));
  if (code !== 0) throw new Error(`${sql} failed in ${file}: ${code}`);
}
