import { startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { migrate } from './migrate.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

test('a database of a newer version is refused by the name of its migration, and nothing is changed', async () => {
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('1', '', '29991231000000_later', now())`,
  );
  await expect(migrate(database.ownerUrl)).rejects.toThrow(
    /29991231000000_later, which this Holdfast does not know/,
  );
  await owner.query(`DELETE FROM _prisma_migrations WHERE id = '1'`);
  await owner.end();
  expect(await migrate(database.ownerUrl)).toEqual([]);
});
