/** Test of a target when it is made: what it can do is found by doing it, with an object that is removed again. */
import { randomBytes } from 'node:crypto';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ObjectStore } from './object-store.js';

/** Clock that differs more: temporary credentials and signatures are then refused, and ages of leftovers are wrong. */
const SKEW_MS_MAX = 5 * 60_000;

export type TargetReport = {
  /** Two writers can't make the same object: what the journal rests on. */
  readonly hasConditionalPut: boolean;
  /** The target's clock less ours. */
  readonly clockSkewMs: number;
  /** What is not as it should be, but can be lived with. */
  readonly warnings: readonly string[];
};

/**
 * @throws StorageFault `backup.target_unsuitable` where it can't hold a repository, and what the store throws
 */
export async function testTarget(store: ObjectStore, now: () => Date): Promise<TargetReport> {
  const name = `probe-${randomBytes(8).toString('hex')}`;
  const bytes = randomBytes(64);
  try {
    await store.put(name, bytes);
    const read = await store.get(name, bytes.length);
    if (read === undefined || !read.equals(bytes)) throw unsuitable('what was written does not read back');
    const part = await store.getRange(name, 8, 16);
    if (part === undefined || !part.equals(bytes.subarray(8, 24))) throw unsuitable('it answers no ranges');
    const info = await store.head(name);
    if (info?.sizeBytes !== bytes.length) throw unsuitable('it tells the wrong size of an object');
    const clockSkewMs = info.modifiedAt.getTime() - now().getTime();
    const hasConditionalPut = await isConditional(store, name, bytes);
    return {
      hasConditionalPut,
      clockSkewMs,
      warnings: [...(await listing(store, name)), ...skew(clockSkewMs)],
    };
  } finally {
    await store.delete(name).catch(() => undefined);
  }
}

/** Some targets refuse the condition, and some ignore it and replace the object. */
async function isConditional(store: ObjectStore, name: string, bytes: Buffer): Promise<boolean> {
  const answer = await store
    .put(name, Buffer.from(bytes).reverse(), { ifAbsent: true })
    .catch((error: unknown) => (error instanceof StorageFault ? error.code : 'failed'));
  if (answer !== 'exists') return false;
  return (await store.get(name, bytes.length))?.equals(bytes) === true;
}

async function listing(store: ObjectStore, name: string): Promise<string[]> {
  for await (const info of store.list(name)) if (info.name === name) return [];
  return ['it lists late what was written just now: leftovers are found later'];
}

function skew(ms: number): string[] {
  if (Math.abs(ms) <= SKEW_MS_MAX) return [];
  return [`its clock is ${Math.round(ms / 1000)} s ${ms > 0 ? 'ahead of' : 'behind'} ours`];
}

const unsuitable = (why: string) =>
  new StorageFault('backup.target_unsuitable', {
    publicMessage: `the target can't hold a repository: ${why}`,
  });
