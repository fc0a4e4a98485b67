/** One step of the benchmark of backups, in a process of its own, so that its memory can be told: prints what it took as JSON. */
import { BackupReader } from '@holdfast/backup/repository/backup-reader.js';
import { backupVolume } from '@holdfast/backup/repository/backup-volume.js';
import { Repository } from '@holdfast/backup/repository/repository.js';
import type { ObjectStore } from '@holdfast/backup/store/object-store.js';
import { openTarget } from '@holdfast/backup/store/open-target.js';
import { FileSource, RawImage } from '@holdfast/backup/store/raw-image.js';
import { ThreadedCoder } from '@holdfast/backup/threads/threaded-coder.js';
import { FAKE_BUCKET } from '@holdfast/testkit/fake-s3.js';

export type StepResult = {
  readonly seconds: number;
  readonly memoryBytes: number;
  /** Calls of the store, which are requests where it is a bucket. */
  readonly requests: number;
  readonly addedBytes: number;
};

/** The target is a folder, or the endpoint of an S3 server. */
const [step = '', target = '', image = '', ...more] = process.argv.slice(2);
const FIRST_READ_BYTES = 4096;
const unlock = {
  kind: 'service',
  keyName: 'bench',
  wrap: async (key: Uint8Array) => key,
  unwrap: async (key: Uint8Array) => key,
} as const;
let requests = 0;
const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench', endpoint: target };
const store: ObjectStore = counted(
  target.startsWith('http://')
    ? await openTarget(`s3://${FAKE_BUCKET}`, credentials)
    : await openTarget(`file://${target}`),
);
const coder = new ThreadedCoder();
const given = { store, unlock, now: () => new Date(), coder };
const facts = { volumeId: 'v', volumeName: 'v', snapshotName: 's' };

function counted(inner: ObjectStore): ObjectStore {
  const calls = new Set(['get', 'getRange', 'put', 'head', 'list', 'delete']);
  return new Proxy(inner, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      const bound = value.bind(target);
      if (!calls.has(String(key))) return bound;
      return (...args: unknown[]) => {
        requests += 1;
        return bound(...args);
      };
    },
  });
}

async function run(): Promise<number> {
  if (step === 'restore' || step === 'first-read') {
    const repository = await Repository.open(given);
    const [backupId = ''] = repository.state.backups.keys();
    const reader = await BackupReader.open(repository, backupId);
    if (step === 'first-read') {
      await reader.read(Math.floor(reader.sizeBytes / 2), FIRST_READ_BYTES);
      return 0;
    }
    const copy = await RawImage.create(image, reader.sizeBytes);
    await reader.restoreTo(copy);
    await copy.complete();
    return 0;
  }
  const source = await FileSource.open(image);
  if (step === 'full') {
    const repository = await Repository.create({ ...given, projectId: 'p', hasConditionalPut: true });
    return (await backupVolume(repository, { ...facts, source })).addedBytes;
  }
  const repository = await Repository.open(given);
  const [backupId = ''] = repository.state.backups.keys();
  const changed = more.map((offset) => ({ offset: Number(offset), lengthBytes: 1 }));
  return (await backupVolume(repository, { ...facts, source, base: { backupId, changed } })).addedBytes;
}

const begin = process.hrtime.bigint();
const addedBytes = await run();
const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
const result: StepResult = {
  seconds,
  memoryBytes: process.resourceUsage().maxRSS * 1024,
  requests,
  addedBytes,
};
console.log(JSON.stringify(result));
store.close();
await coder.close();
