/**
 * An old database: one that lost its last commits, or was restored from a backup. It grants an epoch that copies know
 * already, or one that they have long passed. On the real stores: the volume's rows are put back to what they were.
 */
import { MIB } from '@holdfast/core/model/bytes.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { LocalStack } from '@holdfast/testkit/local-stack.js';
import { connectNbd, pattern } from '@holdfast/testkit/nbd-workload.js';
import { startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

type Volume = { id: string; state: string; endpoint: { nbdUri: string } | null };
type Events = { items: { type: string; message: string }[] };

let database: TestDatabase;
let stack: LocalStack;
let owner: Pool;

beforeAll(async () => {
  database = await startTestDatabase();
  owner = createPool(database.ownerUrl, { connectionsMax: 1, applicationName: 'test' });
  stack = await LocalStack.start({ env: { DATABASE_URL: database.ownerUrl } });
});

afterAll(async () => {
  await stack?.destroy();
  await owner?.end();
  await database?.stop();
});

const attach = (name: string, node: string) =>
  stack.cliJson<Volume>('volume', 'attach', name, '--node', node);
const messages = async (type: string) => {
  const { body } = await stack.call<Events>('GET', '/events?limit=200');
  return body.items.filter((event) => event.type === type).map(({ message }) => message);
};

describe('a database that is older than the copies', () => {
  test('grants above what they know, says so, and serves the newest bytes', async () => {
    await stack.cliJson('volume', 'create', 'restored', '--size', '64Mi', '--replicas', '2');
    const first = await attach('restored', 'node-1');
    await writeTo(first, 0, pattern(1, MIB));
    await stack.cliJson('volume', 'detach', 'restored');
    await backUp();
    for (const seed of [2, 3]) {
      await writeTo(await attach('restored', 'node-2'), 0, pattern(seed, MIB));
      await stack.cliJson('volume', 'detach', 'restored');
    }
    await restore();
    const again = await attach('restored', 'node-1');
    expect((await readFrom(again, 0, MIB)).equals(pattern(3, MIB))).toBe(true);
    expect((await messages('EpochRaised')).join()).toContain('the database is older than the copies');
    await writeTo(again, MIB, pattern(4, MIB));
    await stack.cliJson('volume', 'detach', 'restored');
  });

  test('fences the engine of the forgotten grant, and serves what that engine had flushed', async () => {
    await stack.cliJson('volume', 'create', 'twice', '--size', '64Mi', '--replicas', '2');
    await backUp();
    const first = await attach('twice', 'node-1');
    await writeTo(first, 0, pattern(5, MIB));
    const held = await connectNbd(first.endpoint?.nbdUri ?? '');
    const raised = (await messages('EpochRaised')).length;
    await restore();
    // The same epoch is granted once more, to another node; the copies serve the first grant.
    const second = await attach('twice', 'node-2');
    expect((await readFrom(second, 0, MIB)).equals(pattern(5, MIB))).toBe(true);
    await eventually(
      'it is told',
      () => messages('EpochRaised'),
      (told) => told.length > raised,
    );
    await writeTo(second, 0, pattern(6, MIB));
    const late = pattern(7, MIB);
    await expect(held.write(0, [late], MIB, { fua: false })).rejects.toThrow();
    expect((await readFrom(second, 0, MIB)).equals(pattern(6, MIB))).toBe(true);
  });
});

async function backUp(): Promise<void> {
  await owner.query('DROP TABLE IF EXISTS volume_backup');
  await owner.query('CREATE TABLE volume_backup AS SELECT * FROM volume');
}

async function restore(): Promise<void> {
  const { rows } = await owner.query<{ columns: string }>(
    `SELECT string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
     WHERE table_name = 'volume_backup' AND column_name <> 'id'`,
  );
  const columns = rows[0]?.columns ?? '';
  await owner.query(
    `UPDATE volume SET (${columns}) = (SELECT ${columns} FROM volume_backup b WHERE b.id = volume.id)`,
  );
}

/** Writes durably, and reads back over another connection. */
async function writeTo({ endpoint }: Volume, offset: number, data: Buffer): Promise<void> {
  const client = await connectNbd(endpoint?.nbdUri ?? '');
  await client.write(offset, [data], data.length, { fua: false });
  await client.flush();
  client.close();
}

async function readFrom({ endpoint }: Volume, offset: number, length: number): Promise<Buffer> {
  const client = await connectNbd(endpoint?.nbdUri ?? '');
  const data = Buffer.concat(await client.read(offset, length));
  client.close();
  return data;
}
