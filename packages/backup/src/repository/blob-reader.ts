/** Reads blobs in few requests, opens them, and checks that each is what its id says. */
import { damaged } from '../codec/damage.js';
import { type BlobLocation, ID_BYTES } from '../model/format.js';
import { packObject, packParts } from '../model/names.js';
import { planRanges, type RangeRead } from '../rules/plan-ranges.js';
import type { Repository } from './repository.js';

/** A blob that is wanted. `item` is the caller's own, told back with the content. */
export type Wanted<Item> = { readonly id: Uint8Array; readonly item: Item };

/** Reads at once: each has 8 MiB in memory, and up to 32 MiB opened. */
const READS_AT_ONCE = 4;
/** A prune may have moved a blob while it was read: then its place is looked up anew. */
const ATTEMPTS = 4;

type Placed<Item> = Wanted<Item> & { readonly at: BlobLocation };

/**
 * Hands each blob to `use`, in the order of packs. The bytes are its own until it has ended.
 *
 * @throws StorageFault `backup.damaged` for a blob that is missing or changed
 */
export async function readBlobs<Item>(
  repository: Repository,
  wanted: readonly Wanted<Item>[],
  use: (item: Item, bytes: Buffer) => Promise<void>,
): Promise<void> {
  let rest = wanted;
  for (let attempt = 1; rest.length > 0; attempt += 1) {
    const missing: Wanted<Item>[] = [];
    const placed: Placed<Item>[] = [];
    for (const one of rest) {
      const at = repository.blobs.find(one.id);
      if (at === undefined) missing.push(one);
      else placed.push({ ...one, at });
    }
    await readPlaced(repository, placed, missing, use);
    if (missing.length > 0) {
      const name = Buffer.from(missing[0]?.id ?? [])
        .toString('hex')
        .slice(0, 16);
      if (attempt >= ATTEMPTS) throw damaged(`blob ${name} is missing`);
      await repository.reload();
    }
    rest = missing;
  }
}

async function readPlaced<Item>(
  repository: Repository,
  placed: readonly Placed<Item>[],
  missing: Wanted<Item>[],
  use: (item: Item, bytes: Buffer) => Promise<void>,
): Promise<void> {
  const reads = planRanges(placed);
  const memoryBytes = reads.reduce((most, { lengthBytes }) => Math.max(most, lengthBytes), 0);
  let next = 0;
  const lane = async () => {
    // Fresh memory for each read would cost as much as reading, and much work to collect it.
    let memory: Buffer = Buffer.alloc(0);
    for (;;) {
      const read = reads[next];
      next += 1;
      if (read === undefined) return;
      if (memory.length < read.lengthBytes) memory = Buffer.allocUnsafeSlow(memoryBytes);
      const name = packObject(read.pack);
      const bytes = await repository.store.getRange(name, read.offset, read.lengthBytes, memory);
      if (bytes === undefined) missing.push(...read.items.map(({ id, item }) => ({ id, item })));
      else memory = await openAll(repository, read, bytes, use);
    }
  };
  await allOf(Array.from({ length: Math.min(READS_AT_ONCE, reads.length) }, lane));
}

/** Waits for all of them also where one fails, so that none goes on after the caller has given up. */
async function allOf(lanes: readonly Promise<void>[]): Promise<void> {
  const ended = await Promise.allSettled(lanes);
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

/** One thread opens a whole range: the bytes are moved there and back, and no blob is copied for itself. */
async function openAll<Item>(
  repository: Repository,
  { pack, offset, items }: RangeRead<Placed<Item>>,
  bytes: Buffer,
  use: (item: Item, bytes: Buffer) => Promise<void>,
): Promise<Buffer> {
  const { run } = packParts(pack) ?? { run: '' };
  const blobs = items.map(({ id, at: { offset: place, storedBytes, rawBytes, codec, kind } }) => {
    return { id, kind, codec, rawBytes, storedBytes, begin: place - offset };
  });
  const task = { runKey: repository.keys.runKey(run), idKeys: repository.keys.idKeys(), blobs };
  return repository.coder.openRange(task, bytes, async (number, content) => {
    const item = items[number];
    if (item !== undefined) await use(item.item, content);
  });
}

export function openAt(
  repository: Repository,
  id: Uint8Array,
  at: BlobLocation,
  sealed: Buffer,
): Promise<Buffer> {
  const { run } = packParts(at.pack) ?? { run: '' };
  const { kind, codec, rawBytes } = at;
  const keys = { runKey: repository.keys.runKey(run), idKey: repository.keys.idKeys()[kind] };
  return repository.coder.open({ ...keys, id, kind, codec, rawBytes }, sealed);
}

/** Ids in a segment's bytes. */
export function* idsIn(segment: Buffer): Generator<Buffer> {
  for (let at = 0; at + ID_BYTES <= segment.length; at += ID_BYTES) yield segment.subarray(at, at + ID_BYTES);
}
