/** Backups of a database with rows in it, restored into new ones on the same server. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { emptyDatabase, withClient } from '../../test/more-databases.js';
import { migrate } from '../migrate.js';
import { BackupError } from './backup-error.js';
import { createBackup, type MadeBackup } from './create-backup.js';
import { frame, readFrames } from './frames.js';
import { verifyBackup } from './read-backup.js';
import { restoreBackup } from './restore-backup.js';

const NOW = new Date('2026-01-02T03:04:05.000Z');
const CHANGED = ['event', 'cluster', 'setting', 'token'];

let database: TestDatabase;
let folder: string;
let file: string;
let made: MadeBackup;
let count = 0;

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-backup-'));
  database = await startTestDatabase();
  await seedTestDatabase(database);
  await withClient(database.ownerUrl, async (owner) => {
    const whose = 'SELECT organization_id, id FROM cluster';
    await owner.query(
      `INSERT INTO setting (cluster_id, name, organization_id, value, updated_at)
       SELECT id, 'orphan-resource-auto-deletion', organization_id, '"replica-data"', now() FROM cluster`,
    );
    await owner.query(
      `INSERT INTO event (organization_id, cluster_id, transaction_id, type, severity, subject_kind, subject_id, message, at)
       SELECT o.organization_id, o.id, pg_current_xact_id()::text::bigint, 'NodeReady', 'info', 'node', n::text,
         E'a\\ttab, a \\\\ and\\na line ' || n, now() FROM (${whose}) o, generate_series(1, 3) n`,
    );
    await owner.query(`UPDATE token SET kind = 'session' WHERE name = (SELECT min(name) FROM token)`);
  });
  file = path.join(folder, 'backup');
  made = await createBackup(database.ownerUrl, file);
});
afterAll(async () => {
  await database.stop();
  fs.rmSync(folder, { recursive: true });
});

describe('a backup', () => {
  test('is one file, for its owner only, that says what it holds', async () => {
    expect(fs.statSync(file).mode & 0o077).toBe(0);
    expect(fs.readdirSync(folder)).toEqual(['backup']);
    const read = await verifyBackup(file);
    expect(read).toEqual({ header: made.header, manifest: made.manifest });
    const rows = Object.fromEntries(made.manifest.tables.map((table) => [table.name, table.rows]));
    expect(rows).toMatchObject({ organization: 1, cluster: 1, event: 3, setting: 1, volume: 0 });
  });

  test('replaces no file', async () => {
    await expect(createBackup(database.ownerUrl, file)).rejects.toThrow('is there already');
  });

  test.each<[string, () => string, string]>([
    ['that is not there', () => path.join(folder, 'none/backup'), 'its folder does not exist'],
    ['that is a file', () => path.join(file, 'backup'), 'what should be its folder is none'],
  ])('is not written to a folder %s, and says why', async (_what, place, says) => {
    await expect(createBackup(database.ownerUrl, place())).rejects.toThrow(says);
    await expect(createBackup(database.ownerUrl, place())).rejects.toThrow(BackupError);
  });

  test('is not made of another database', async () => {
    const url = await newDatabase();
    const other = path.join(folder, 'other');
    await expect(createBackup(url, other)).rejects.toThrow('no database of Holdfast');
    expect(fs.existsSync(other)).toBe(false);
  });
});

describe('a restored database', () => {
  test('holds every row of the backup, with its triggers and sequences as they were', async () => {
    const url = await newDatabase();
    const restored = await restoreBackup(url, file, NOW);
    expect(restored.migrations).toEqual([]);
    const again = await createBackup(url, path.join(folder, 'again'));
    const unchanged = ({ manifest }: MadeBackup) =>
      manifest.tables.filter(({ name }) => !CHANGED.includes(name));
    expect(unchanged(again)).toEqual(unchanged(made));
    expect(await triggers(url)).toEqual(await triggers(database.ownerUrl));
    const messages = await withClient(url, async (client) => {
      const { rows } = await client.query<{ id: string; type: string; message: string }>(
        'SELECT id, type, message FROM event ORDER BY transaction_id, id',
      );
      return rows;
    });
    expect(messages.map(({ type }) => type)).toEqual([
      'NodeReady',
      'NodeReady',
      'NodeReady',
      'DatabaseRestored',
    ]);
    expect(messages[0]?.message).toBe('a\ttab, a \\ and\na line 1');
    expect(messages[3]?.message).toContain(made.header.takenAt);
    // The sequence continues behind the restored events.
    expect(messages.map(({ id }) => Number(id))).toEqual([1, 2, 3, 4]);
  });

  test('removes no orphans unasked, and has no sessions', async () => {
    const url = await newDatabase();
    await restoreBackup(url, file, NOW);
    const counts = async (from: string) =>
      withClient(from, async (client) => {
        const { rows } = await client.query(
          `SELECT (SELECT count(*)::int FROM setting) AS settings,
             (SELECT count(*)::int FROM token WHERE kind = 'session') AS sessions,
             (SELECT count(*)::int FROM token) AS tokens`,
        );
        return rows[0];
      });
    const before = await counts(database.ownerUrl);
    expect(before).toMatchObject({ settings: 1, sessions: 1 });
    expect(await counts(url)).toEqual({ settings: 0, sessions: 0, tokens: before.tokens - 1 });
  });

  test('lets no volume attach before all its copies have answered, and does no revert again', async () => {
    const withVolume = path.join(folder, 'with-volume');
    await withClient(database.ownerUrl, async (owner) => {
      await owner.query(
        `INSERT INTO volume (id, organization_id, project_id, cluster_id, name, size_bytes, number_of_replicas, data_engine,
           data_locality, replica_soft_anti_affinity, replica_zone_soft_anti_affinity, replica_disk_soft_anti_affinity,
           replica_auto_balance, state, robustness, layer_task, created_at)
         SELECT gen_random_uuid(), p.organization_id, p.id, c.id, 'data', 1048576, 2, 'v1', 'disabled', 'ignored', 'ignored',
           'ignored', 'ignored', 'detached', 'healthy', '{"kind": "revert", "requestedAt": "2026-01-01T00:00:00Z"}', now() FROM cluster c, project p LIMIT 1`,
      );
      await createBackup(database.ownerUrl, withVolume);
      await owner.query('DELETE FROM volume');
    });
    const url = await newDatabase();
    await restoreBackup(url, withVolume, NOW);
    const { rows } = await withClient(url, (client) =>
      client.query('SELECT restored_at, layer_task FROM volume'),
    );
    expect(rows).toEqual([{ restored_at: NOW, layer_task: null }]);
    const ended = await withClient(url, (client) => client.query('SELECT kind, state FROM ended_operation'));
    expect(ended.rows).toEqual([{ kind: 'revert', state: 'failed' }]);
  });

  test('orders its log behind ids that a new server gives out', async () => {
    // As of a server that had given out many more ids than the one it is restored to.
    const farAhead = path.join(folder, 'far-ahead');
    await withClient(database.ownerUrl, async (owner) => {
      await owner.query('UPDATE event SET transaction_id = transaction_id + 900000000');
      await createBackup(database.ownerUrl, farAhead);
      await owner.query('UPDATE event SET transaction_id = transaction_id - 900000000');
    });
    const other = await altered((text, kind) => {
      const header = kind === 'H' ? JSON.parse(text) : undefined;
      if (header === undefined) return text;
      const nextTransactionId = header.nextTransactionId + 900_000_000;
      return JSON.stringify({ ...header, nextTransactionId });
    }, farAhead);
    const url = await newDatabase();
    await restoreBackup(url, other, NOW);
    const { rows } = await withClient(url, (client) =>
      client.query<{ type: string; below: boolean }>(
        `SELECT type, transaction_id < pg_current_xact_id()::text::bigint AS below FROM event ORDER BY transaction_id, id`,
      ),
    );
    expect(rows.at(-1)?.type).toBe('DatabaseRestored');
    expect(rows.every(({ below }) => below)).toBe(true);
  });
});

describe('a restore is refused', () => {
  const damaged = async () => {
    const bytes = fs.readFileSync(file);
    bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 0x10;
    const other = path.join(folder, 'damaged');
    fs.writeFileSync(other, bytes);
    return other;
  };
  const cutShort = async () => {
    const other = path.join(folder, 'short');
    fs.writeFileSync(other, fs.readFileSync(file).subarray(0, -40));
    return other;
  };
  const noBackup = async () => {
    const other = path.join(folder, 'none');
    fs.writeFileSync(other, 'a letter');
    return other;
  };
  const migrations = (change: (names: { name: string; checksum: string }[]) => object[]) => () =>
    altered((text, kind) => {
      const header = kind === 'H' ? JSON.parse(text) : undefined;
      if (header === undefined) return text;
      return JSON.stringify({ ...header, migrations: change(header.migrations) });
    });
  const unknown = { name: '29990101000000_later', checksum: 'x' };

  test.each<[string, () => Promise<string>, string]>([
    ['damaged in the middle', damaged, 'backup'],
    ['cut short', cutShort, 'backup'],
    ['no backup', noBackup, "can't be read as a backup"],
    ['without its end', () => altered((text, kind) => (kind === 'E' ? undefined : text)), 'cut short'],
    ['with a row changed', () => altered((text) => text.replace('a line 2', 'a line 9')), 'table event'],
    ['of a newer schema', migrations((all) => [...all, unknown]), 'of a newer one'],
    [
      'of another schema',
      migrations((all) => all.map((one) => ({ ...one, checksum: 'x' }))),
      'another migration',
    ],
    ['of a newer form', () => altered((text) => text.replace('"format":1', '"format":2')), 'newer Holdfast'],
  ])('of a file that is %s, and the database stays empty', async (_what, make, says) => {
    const url = await newDatabase();
    await expect(restoreBackup(url, await make(), NOW)).rejects.toThrow(says);
    const { rows } = await withClient(url, (client) =>
      client.query(`SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace`),
    );
    expect(rows).toEqual([]);
  });

  test('into a database that is not empty', async () => {
    await expect(restoreBackup(database.ownerUrl, file, NOW)).rejects.toThrow('not empty');
    const url = await newDatabase();
    await migrate(url);
    await expect(restoreBackup(url, file, NOW)).rejects.toThrow('not empty');
  });
});

describe('a restore that was cut short', () => {
  const mark = (url: string, isLoaded: boolean, takenAt = made.header.takenAt) =>
    withClient(url, (client) =>
      client.query(
        `CREATE TABLE restore_under_way AS SELECT '${takenAt}'::text AS taken_at, ${isLoaded} AS is_loaded`,
      ),
    );

  test('before its rows were in is begun again', async () => {
    const url = await newDatabase();
    await mark(url, false);
    await migrate(url);
    await restoreBackup(url, file, NOW);
    const again = await createBackup(url, path.join(folder, 'after-a-crash'));
    expect(again.manifest.tables.find(({ name }) => name === 'cluster')?.rows).toBe(1);
  });

  test('after that only ends, and leaves no mark', async () => {
    const url = await newDatabase();
    await mark(url, true);
    await migrate(url);
    await restoreBackup(url, file, NOW);
    const { rows } = await withClient(url, (client) =>
      client.query(
        `SELECT to_regclass('restore_under_way') AS mark, (SELECT count(*)::int FROM cluster) AS clusters`,
      ),
    );
    expect(rows).toEqual([{ mark: null, clusters: 0 }]);
  });

  test('is not ended with another backup', async () => {
    const url = await newDatabase();
    await mark(url, false, '2020-01-01T00:00:00.000Z');
    await expect(restoreBackup(url, file, NOW)).rejects.toThrow('another backup');
  });
});

function newDatabase(): Promise<string> {
  count += 1;
  return emptyDatabase(database.ownerUrl, `restored_${count}`);
}

/** All triggers with how they are enabled. */
function triggers(url: string) {
  return withClient(url, async (client) => {
    const text =
      'SELECT tgrelid::regclass::text, tgname, tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2';
    return (await client.query(text)).rows;
  });
}

/** Makes another file of the backup's frames. */
async function altered(
  change: (text: string, kind: string) => string | undefined,
  from = file,
): Promise<string> {
  const out: Buffer[] = [];
  const chunks = async function* () {
    yield zlib.gunzipSync(fs.readFileSync(from));
  };
  for await (const { kind, payload } of readFrames(chunks())) {
    const text = change(payload.toString('utf8'), kind);
    if (text !== undefined) out.push(frame(kind, Buffer.from(text)));
  }
  count += 1;
  const other = path.join(folder, `altered-${count}`);
  fs.writeFileSync(other, zlib.gzipSync(Buffer.concat(out)));
  return other;
}
