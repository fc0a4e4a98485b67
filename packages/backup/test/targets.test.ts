/** Targets as they are: a folder, an S3 server of npm, and one of our own that is as bad as S3 servers can be. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import S3rver from '@20minutes/s3rver';
import { FAKE_BUCKET, FakeS3 } from '@holdfast/testkit/fake-s3.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { backupVolume } from '../src/repository/backup-volume.js';
import { deleteBackup, prune } from '../src/repository/prune.js';
import { FileStore } from '../src/store/file-store.js';
import type { ObjectStore } from '../src/store/object-store.js';
import { openTarget } from '../src/store/open-target.js';
import { RetryingStore } from '../src/store/retrying-store.js';
import { S3Store } from '../src/store/s3-store.js';
import { testTarget } from '../src/store/test-target.js';
import { BLOCK, createRepository, facts, MemoryVolume, openRepository, restored } from './volumes.js';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-targets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SOURCES = ['--conditions=holdfast-source', '--import', join(ROOT, 'tools/typescript/register.mjs')];

const now = () => new Date();
const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
const server = new S3rver({
  port: 0,
  address: '127.0.0.1',
  silent: true,
  allowMismatchedSignatures: true,
  directory: join(folder, 's3rver'),
  configureBuckets: [{ name: FAKE_BUCKET, configs: [] }],
});
let fake: FakeS3;
let npmEndpoint = '';

beforeAll(async () => {
  const { port } = await server.run();
  npmEndpoint = `http://127.0.0.1:${port}`;
  fake = await FakeS3.start();
});
afterAll(async () => {
  await server.close();
  await fake.stop();
});

const s3 = (endpoint: string) =>
  openTarget(`s3://${FAKE_BUCKET}@us-east-1/some/prefix`, { ...credentials, endpoint });
const TARGETS: Record<string, () => Promise<ObjectStore>> = {
  folder: () => openTarget(`file://${mkdtempSync(join(folder, 'target-'))}`),
  's3rver of npm': () => s3(npmEndpoint),
  'server of our own': () => s3(fake.endpoint),
};

describe.each(Object.keys(TARGETS))('a target that is a %s', (kind) => {
  test('keeps to what the port promises', async () => {
    const store = (await TARGETS[kind]?.()) as ObjectStore;
    const bytes = randomBytes(100_000);
    expect(await store.get('a/b', 10)).toBeUndefined();
    expect(await store.getRange('a/b', 0, 10)).toBeUndefined();
    expect(await store.head('a/b')).toBeUndefined();
    expect(await store.put('a/b', bytes)).toBe('stored');
    await store.put('a/c/d', Buffer.from('d'));
    expect((await store.get('a/b', bytes.length))?.equals(bytes)).toBe(true);
    expect((await store.getRange('a/b', 500, 700))?.equals(bytes.subarray(500, 1200))).toBe(true);
    expect(await store.getRange('a/b', 99_999, 2)).toBeUndefined();
    await expect(store.get('a/b', bytes.length - 1)).rejects.toMatchObject({ code: 'backup.too_large' });
    expect((await store.head('a/b'))?.sizeBytes).toBe(100_000);
    const listed: string[] = [];
    for await (const { name } of store.list('a/')) listed.push(name);
    expect(listed.sort()).toEqual(['a/b', 'a/c/d']);
    expect(await store.delete('a/b')).toBe('deleted');
    expect(await store.delete('a/b')).toBe('deleted');
    expect(await store.get('a/b', 10)).toBeUndefined();
    store.close();
  });

  test('takes a backup, a prune and a restore', async () => {
    const store = (await TARGETS[kind]?.()) as ObjectStore;
    const { hasConditionalPut } = await testTarget(store, now);
    const repository = await createRepository(store, { hasConditionalPut });
    const bytes = randomBytes(40 * BLOCK);
    const { id } = await backupVolume(repository, { ...facts, source: MemoryVolume.of(bytes) });
    const gone = await backupVolume(repository, { ...facts, source: MemoryVolume.of(randomBytes(BLOCK)) });
    await deleteBackup(repository, gone.id);
    await prune(repository, { graceMs: 0, orphanAgeMs: 0 });
    expect((await restored(await openRepository(store), id)).equals(bytes)).toBe(true);
    for await (const { name } of store.list('')) await store.delete(name);
    store.close();
  });
});

describe("a target's test", () => {
  afterEach(() => {
    Object.assign(fake.target, {
      hasConditionalPut: true,
      clockSkewMs: 0,
      capacityBytes: Infinity,
      listLag: 0,
    });
  });

  test('finds a folder and our server able, and that the one of npm has no conditional PUT', async () => {
    const found = await Promise.all(
      Object.values(TARGETS).map(async (open) => (await testTarget(await open(), now)).hasConditionalPut),
    );
    expect(found).toEqual([true, false, true]);
  });

  test('tells of a clock that is off, of late listings, and of a missing condition', async () => {
    Object.assign(fake.target, { hasConditionalPut: false, clockSkewMs: 3_600_000, listLag: 3 });
    const report = await testTarget(await s3(fake.endpoint), now);
    expect(report.hasConditionalPut).toBe(false);
    expect(report.warnings).toEqual([
      expect.stringContaining('lists late'),
      expect.stringMatching(/clock is \d+ s ahead/),
    ]);
  });

  test('refuses a full one, and wrong credentials', async () => {
    fake.target.capacityBytes = 10;
    await expect(testTarget(await s3(fake.endpoint), now)).rejects.toMatchObject({
      code: 'backup.target_full',
    });
    const wrong = await openTarget(`s3://${FAKE_BUCKET}`, {
      ...credentials,
      accessKeyId: 'WRONG',
      endpoint: npmEndpoint,
    });
    await expect(testTarget(wrong, now)).rejects.toMatchObject({ code: 'backup.target_refused' });
  });

  test('leaves nothing behind', async () => {
    fake.target.objects.clear();
    await testTarget(await s3(fake.endpoint), now);
    expect([...fake.target.objects.keys()]).toEqual([]);
  });
});

describe('a bad server', () => {
  /** Rests are counted, not slept. */
  const store = () => {
    const rests: number[] = [];
    const bare = new S3Store({
      ...credentials,
      bucket: FAKE_BUCKET,
      prefix: '',
      region: 'us-east-1',
      endpoint: fake.endpoint,
      isVirtualHosted: false,
    });
    return { rests, store: new RetryingStore(bare, async (ms) => void rests.push(ms)) };
  };
  afterEach(() => {
    fake.fateOf = () => 'answered';
  });

  test.each([
    { name: 'that asks for a slower pace', fate: 'slow-down' },
    { name: 'that cuts its answers off', fate: 'cut' },
  ] as const)('$name is asked again, after longer rests each time', async ({ fate }) => {
    const { rests, store: asked } = store();
    await asked.put('x', Buffer.from('content'));
    let failures = 3;
    fake.fateOf = () => (failures-- > 0 ? fate : 'answered');
    expect((await asked.get('x', 100))?.toString()).toBe('content');
    expect(rests).toEqual([200, 400, 800]);
  });

  test('that never answers well is given up, with a code', async () => {
    const { rests, store: asked } = store();
    fake.fateOf = () => 'slow-down';
    await expect(asked.get('x', 100)).rejects.toMatchObject({ code: 'backup.target_unreachable' });
    expect(rests).toHaveLength(7);
  });

  test('that answers late is waited for', async () => {
    const { rests, store: asked } = store();
    fake.fateOf = () => ({ afterMs: 50 });
    expect(await asked.put('y', Buffer.from('z'))).toBe('stored');
    expect(rests).toEqual([]);
  });
});

describe('a folder', () => {
  test('leaves nothing under temporary names, and lists none', async () => {
    const at = mkdtempSync(join(folder, 'plain-'));
    const store = new FileStore(at);
    await store.put('a', Buffer.from('1'));
    expect(await store.put('a', Buffer.from('2'), { ifAbsent: true })).toBe('exists');
    writeFileSync(join(at, '.tmp-left'), 'of a crash');
    const listed: string[] = [];
    for await (const { name } of store.list('')) listed.push(name);
    expect(listed).toEqual(['a']);
    expect(readdirSync(at).sort()).toEqual(['.tmp-left', 'a']);
  });

  test('is not left by names or links', async () => {
    const at = mkdtempSync(join(folder, 'links-'));
    writeFileSync(join(folder, 'outside'), 'secret');
    symlinkSync(join(folder, 'outside'), join(at, 'link'));
    const store = new FileStore(at);
    await expect(store.get('link', 100)).rejects.toMatchObject({ code: 'backup.target_refused' });
    await expect(store.get('../outside', 100)).rejects.toMatchObject({ code: 'backup.target_refused' });
  });
});

test.each(['ftp://x', 's3://B', 'file://relative', 's3://bucket'])(
  '%s is refused as an address',
  async (address) => {
    await expect(openTarget(address)).rejects.toMatchObject({ code: 'request.invalid' });
  },
);

test.each([
  { address: 'file:///tmp', loads: false },
  { address: 's3://bucket', loads: true },
])("Amazon's client is loaded for $address: $loads", ({ address, loads }) => {
  const code = `
    import module from 'node:module';
    import { openTarget } from '@holdfast/backup/store/open-target.js';
    await openTarget('${address}', { accessKeyId: 'a', secretAccessKey: 'b' });
    console.log(Object.keys(module._cache).some((file) => file.includes('client-s3')));`;
  const out = execFileSync(process.execPath, [...SOURCES, '--input-type=module', '--eval', code], {
    cwd: join(ROOT, 'packages/backup'),
    encoding: 'utf8',
  });
  expect(out.trim()).toBe(String(loads));
});
