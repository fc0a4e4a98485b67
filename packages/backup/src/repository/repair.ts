/**
 * Makes the index anew from the packs themselves: for an index that was lost or is wrong, and for packs that were damaged. What no longer opens
 * is left out, so that the next backup stores it again. Nothing is deleted; backups that stay damaged are named.
 */
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import { directoryBytes, openDirectory, PACK_TRAILER_BYTES } from '../codec/pack-file.js';
import { INDEX_BYTES_MAX, type IndexEntry } from '../model/format.js';
import { DATA_PREFIX, packObject, packOfObject, runOfObject } from '../model/names.js';
import { type FoundPack, placeOf, planRepair } from '../rules/plan-repair.js';
import { isAbandoned } from '../rules/repository-state.js';
import { openAt } from './blob-reader.js';
import { inLanes } from './in-lanes.js';
import type { Repository } from './repository.js';
import { type VerifyReport, verify } from './verify.js';

export type RepairReport = VerifyReport & {
  readonly keptBlobs: number;
  readonly unreadablePacks: readonly string[];
};

const PACKS_AT_ONCE = 2;

/** @param repository opened with `toleratesDamage`, where its indexes can't be read */
export async function repair(repository: Repository): Promise<RepairReport> {
  await repository.reload();
  const replaced = [...repository.state.indexes.keys()];
  const found: FoundPack[] = [];
  const unreadablePacks: string[] = [];
  const damagedPlaces = new Set<string>();
  await inLanes(await packsAtTarget(repository), PACKS_AT_ONCE, async ({ pack, sizeBytes }) => {
    const entries = await readDirectory(repository, pack, sizeBytes);
    if (entries === undefined) unreadablePacks.push(pack);
    else {
      found.push({ pack, entries });
      await tryAll(repository, pack, entries, damagedPlaces);
    }
  });
  // In an order of their own, so that the same target comes to the same index.
  found.sort((a, b) => (a.pack < b.pack ? -1 : 1));
  const kept = planRepair(found, damagedPlaces);
  await replaceIndexes(repository, kept, replaced);
  const report = await verify(repository, { share: 0 });
  return { ...report, keptBlobs: kept.length, unreadablePacks: unreadablePacks.sort() };
}

type PackAtTarget = { readonly pack: string; readonly sizeBytes: number };

async function packsAtTarget({ store, state }: Repository): Promise<PackAtTarget[]> {
  const packs: PackAtTarget[] = [];
  for await (const { name, sizeBytes } of store.list(DATA_PREFIX)) {
    const pack = packOfObject(name);
    // What is dead or abandoned may be deleted at any moment: nothing may refer to it again.
    const isGoing = state.dead.has(name) || isAbandoned(state, runOfObject(name) ?? '');
    if (pack !== undefined && !isGoing) packs.push({ pack, sizeBytes });
  }
  return packs;
}

/** `undefined` where the directory can't be read. */
async function readDirectory(
  { store, keys }: Repository,
  pack: string,
  sizeBytes: number,
): Promise<IndexEntry[] | undefined> {
  try {
    const end = await store.getRange(packObject(pack), sizeBytes - PACK_TRAILER_BYTES, PACK_TRAILER_BYTES);
    if (end === undefined) return undefined;
    const lengthBytes = directoryBytes(end, pack);
    const begin = sizeBytes - PACK_TRAILER_BYTES - lengthBytes;
    if (begin < 0 || lengthBytes > INDEX_BYTES_MAX) return undefined;
    const sealed = await store.getRange(packObject(pack), begin, lengthBytes);
    return sealed === undefined ? undefined : openDirectory(keys, pack, sealed);
  } catch (error) {
    if (isFault(error, 'backup.damaged')) return undefined;
    throw error;
  }
}

async function tryAll(
  repository: Repository,
  pack: string,
  entries: readonly IndexEntry[],
  damagedPlaces: Set<string>,
): Promise<void> {
  const end = Math.max(0, ...entries.map(({ offset, storedBytes }) => offset + storedBytes));
  const bytes = await repository.store.getRange(packObject(pack), 0, end);
  await inLanes(entries, repository.coder.parallel, async (entry) => {
    try {
      const { offset, storedBytes } = entry;
      if (bytes === undefined) damagedPlaces.add(placeOf(entry));
      else
        await openAt(repository, entry.id, entry, Buffer.from(bytes.subarray(offset, offset + storedBytes)));
    } catch (error) {
      if (!isFault(error, 'backup.damaged')) throw error;
      damagedPlaces.add(placeOf(entry));
    }
  });
}

async function replaceIndexes(
  repository: Repository,
  kept: readonly IndexEntry[],
  replaced: readonly string[],
): Promise<void> {
  const writer = repository.newRun();
  const written = await writer.writeIndexesOf(kept);
  const packs = new Set(kept.map(({ pack }) => pack));
  await repository.journal.append((state) => {
    // A prune has buried what was read here: its blobs lie elsewhere now.
    if ([...packs].some((pack) => state.dead.has(packObject(pack))))
      throw new StorageFault('backup.busy', { publicMessage: 'a prune went on meanwhile; repair again' });
    return {
      kind: 'indexes-replaced',
      run: writer.run,
      indexes: written.map(({ reference }) => reference),
      // Indexes that were added meanwhile stay.
      replacedIndexes: replaced.filter((name) => state.indexes.has(name)),
    };
  });
  await repository.reload();
}
