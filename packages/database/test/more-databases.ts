/** Databases beside the one that a test's server begins with. */
import pg from 'pg';

/** Works on a connection of its own. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** @returns address of a database of that name, which is made on the same server and is empty */
export async function emptyDatabase(ownerUrl: string, name: string): Promise<string> {
  await withClient(ownerUrl, (owner) => owner.query(`CREATE DATABASE ${name}`));
  const url = new URL(ownerUrl);
  url.pathname = `/${name}`;
  return url.href;
}
