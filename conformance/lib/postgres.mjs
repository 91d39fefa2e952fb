// A fresh database in the given PostgreSQL cluster, dropped afterwards. Imports no package, so that e2e
// can use it with its own.
import { randomBytes } from 'node:crypto';

/**
 * The part of the package pg that is used.
 * @typedef {new (options: { connectionString: string }) => {
 *   connect(): Promise<unknown>, query(sql: string): Promise<unknown>, end(): Promise<unknown>,
 * }} Client
 */

/**
 * @param {Client} Client
 * @param {string} clusterUrl an address whose user may create databases
 * @returns {Promise<{ url: string, drop(): Promise<void> }>}
 */
export async function createDatabase(Client, clusterUrl) {
  const name = `stoa_run_${randomBytes(6).toString('hex')}`;
  // The server demands a UTF-8 database; template0 lets any cluster give one.
  await run(Client, clusterUrl, `CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  const url = new URL(clusterUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(Client, clusterUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/**
 * @param {Client} Client
 * @param {string} url
 * @param {string} sql
 */
async function run(Client, url, sql) {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
