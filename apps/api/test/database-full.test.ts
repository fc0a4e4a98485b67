/**
 * What users and agents are answered while the disk of Postgres is full, and after it has room again. A tablespace in memory fills up for
 * real, where a process may mount one; everywhere, the server itself raises the error at each write.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { GIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { startTestServer, type TestServer } from '@holdfast/testkit/test-database.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Answer } from './api-fixture.js';
import { OwnApi } from './own-api.js';

const CURES = [expect.stringContaining('free space')];
const FULL = { status: 503, body: { code: 'store.full', retryable: true, cures: CURES } };
/** Tables that a creation writes to, and what requests of any kind write. */
const WRITTEN = [
  'volume',
  'replica',
  'idempotency_key',
  'project',
  'event',
  'audit_entry',
  'outbox',
  'session',
];

/** Room for the table of volumes and for what fills it up. */
const SMALL_BYTES = 4 * 1024 * 1024;
/** More creations than the free rest of a table's last pages takes. */
const CREATIONS_MAX = 200;

let api: OwnApi;
let server: TestServer;
const small = mountSmall();
let tables: string[];

beforeAll(async () => {
  server = await startTestServer();
  api = await OwnApi.on(server);
  const { rows } = await api.owner.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'holdfast_migration'",
  );
  tables = rows.map(({ name }) => name);
});
afterAll(async () => {
  await api?.stop();
  if (small === undefined) return;
  spawnSync('umount', [small]);
  fs.rmdirSync(small);
});

describe('while every write finds the disk full', () => {
  beforeAll(async () => {
    await api.owner.query(`CREATE FUNCTION refuse_full() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`);
  });
  afterEach(free);

  test('reads are answered, changes are refused by a code of their own, and made once there is room', async () => {
    await fill();
    expect(await api.call('GET', api.volumes)).toMatchObject({ status: 200 });
    const asked = [
      create('refused'),
      create('refused', 'refused-1'),
      api.call('PATCH', `/projects/${api.seed.projectId}`, { body: { name: 'other' } }),
    ];
    for (const answer of await Promise.all(asked)) {
      expect(answer).toMatchObject(FULL);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    await free();
    expect(await names()).toEqual([]);
    // The key was not taken by what was not done.
    await eventually(
      'the keyed creation',
      () => create('kept', 'refused-2'),
      ({ status }) => status === 201,
    );
    expect(await create('refused', 'refused-1')).toMatchObject({ status: 201 });
    expect(await names()).toEqual(['kept', 'refused']);
  });

  test.each(WRITTEN)(
    'where only the write to %s is refused, nothing of the creation is stored',
    async (table) => {
      if (!tables.includes(table)) return;
      // Not the audit log: that the request was refused is written down there.
      const kinds = ['volume', 'replica', 'event', 'outbox'];
      const counts = () => Promise.all(kinds.map(countOf));
      const before = await counts();
      await fill([table]);
      const name = `half-${table.replaceAll('_', '-')}`;
      const answer = await create(name, `half-${table}`);
      await free();
      if (answer.status !== 201) {
        expect(answer).toMatchObject(FULL);
        expect(await counts()).toEqual(before);
        expect(await create(name, `half-${table}`)).toMatchObject({ status: 201 });
      }
      expect((await names()).filter((one) => one === name)).toHaveLength(1);
    },
  );
});

const withSmall = small === undefined ? describe.skip : describe;

withSmall('while the file system of a table is full', () => {
  test('creations are refused once it is, and made again when it has room', async () => {
    const { uid, gid } = fs.statSync(path.join(server.server.directory, 'pgdata'));
    const folder = path.join(small ?? '', 'tables');
    fs.mkdirSync(folder);
    fs.chownSync(folder, uid, gid);
    await api.owner.query(`CREATE TABLESPACE small LOCATION '${folder}'`);
    await api.owner.query('ALTER TABLE volume SET TABLESPACE small');
    await api.owner.query('CREATE TABLE filler (content text) TABLESPACE small');
    const half = 'INSERT INTO filler SELECT repeat(md5(n::text), 60) FROM generate_series(1, $1) n';
    for (let rows = 2_000; rows > 0; )
      rows = await api.owner.query(half, [rows]).then(
        () => rows,
        () => Math.floor(rows / 2),
      );
    let made = 0;
    let answer = await create('small-0');
    for (; answer.status === 201 && made < CREATIONS_MAX; made += 1)
      answer = await create(`small-${made + 1}`);
    expect(answer).toMatchObject(FULL);
    expect(await api.call('GET', api.volumes)).toMatchObject({ status: 200 });
    expect((await names()).filter((name) => name.startsWith('small-'))).toHaveLength(made);
    await api.owner.query('DROP TABLE filler');
    expect(await create('room-again')).toMatchObject({ status: 201 });
    await api.owner.query('ALTER TABLE volume SET TABLESPACE pg_default');
    await api.owner.query('DROP TABLESPACE small');
  });
});

async function fill(only = tables): Promise<void> {
  for (const table of only)
    await api.owner.query(
      `CREATE TRIGGER refuse_full BEFORE INSERT OR UPDATE ON "${table}" FOR EACH ROW EXECUTE FUNCTION refuse_full()`,
    );
}

async function free(): Promise<void> {
  for (const table of tables) await api.owner.query(`DROP TRIGGER IF EXISTS refuse_full ON "${table}"`);
}

function create(name: string, key?: string): Promise<Answer> {
  const headers = key === undefined ? {} : { headers: { 'idempotency-key': key } };
  return api.call('POST', api.volumes, { body: { name, size: GIB }, ...headers });
}

async function names(): Promise<string[]> {
  const { rows } = await api.owner.query<{ name: string }>('SELECT name FROM volume ORDER BY name');
  return rows.map(({ name }) => name);
}

async function countOf(table: string): Promise<number> {
  const { rows } = await api.owner.query<{ count: number }>(`SELECT count(*)::int AS count FROM "${table}"`);
  return rows[0]?.count ?? 0;
}

/** A small folder in memory; `undefined` where this process may not mount one. */
function mountSmall(): string | undefined {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-small-'));
  fs.chmodSync(folder, 0o755);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SMALL_BYTES}`, 'tmpfs', folder]);
  if (mounted.status === 0) return folder;
  fs.rmdirSync(folder);
  process.stderr.write('left out: a full tablespace, because this process may not mount a file system\n');
  return undefined;
}
