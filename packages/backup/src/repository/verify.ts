/** Reads a repository back: that all backups are whole by the index, and all packs, or a sample of them, by their bytes. */

import { isFault } from '@holdfast/core/model/faults.js';
import { damaged } from '../codec/damage.js';
import { HOLE_SEGMENT, isHole } from '../codec/segments.js';
import type { BlobLocation } from '../model/format.js';
import { packObject } from '../model/names.js';
import { readManifest } from './backup-reader.js';
import { idsIn, openAt, readBlobs } from './blob-reader.js';
import { inLanes } from './in-lanes.js';
import type { Repository } from './repository.js';

export type VerifyOptions = {
  /** Share of the packs that are read back, from 0 to 1; left out: all. */
  readonly share?: number;
  /** In [0, 1): chooses the packs of a sample. */
  readonly random?: () => number;
  readonly signal?: AbortSignal;
};

export type VerifyReport = {
  readonly backups: number;
  readonly packs: number;
  readonly packsRead: number;
  readonly bytesRead: number;
  /** Blobs that are missing or changed, in hex. Those of packs that were not read are not known. */
  readonly damagedBlobs: readonly string[];
  /** Ids of backups that are not whole, each with the first reason. */
  readonly damagedBackups: readonly { readonly backupId: string; readonly reason: string }[];
};

/** Packs that are read at once, one after the other: each is 64 MiB in memory. */
const PACKS_AT_ONCE = 2;

/** Attempts while other processes change the repository. */
const ATTEMPTS = 3;

type Placed = BlobLocation & { readonly id: Buffer };

/** Damage is checked again if the journal has advanced meanwhile: a prune may have moved the blob. */
export async function verify(repository: Repository, options: VerifyOptions = {}): Promise<VerifyReport> {
  for (let attempt = 1; ; attempt += 1) {
    await repository.reload();
    const before = repository.state.sequence;
    const report = await verifyOnce(repository, options);
    if (report.damagedBlobs.length + report.damagedBackups.length === 0 || attempt >= ATTEMPTS) return report;
    await repository.journal.catchUp();
    if (repository.state.sequence === before) return report;
  }
}

async function verifyOnce(repository: Repository, options: VerifyOptions): Promise<VerifyReport> {
  const { share = 1, random = Math.random } = options;
  const packs = new Map<string, Placed[]>();
  for (const { id, number: _, ...at } of repository.blobs.entries()) {
    const blobs = packs.get(at.pack) ?? [];
    packs.set(at.pack, blobs);
    blobs.push({ id: Buffer.from(id), ...at });
  }
  const chosen = [...packs].filter(() => share >= 1 || random() < share);
  const damagedIds = new Set<string>();
  let bytesRead = 0;
  await inLanes(chosen, PACKS_AT_ONCE, async ([pack, blobs]) => {
    options.signal?.throwIfAborted();
    bytesRead += await verifyPack(repository, pack, blobs, damagedIds);
  });
  const damagedBackups: { backupId: string; reason: string }[] = [];
  for (const backupId of repository.state.backups.keys()) {
    const reason = await objectionTo(repository, backupId, damagedIds);
    if (reason !== undefined) damagedBackups.push({ backupId, reason });
  }
  return {
    backups: repository.state.backups.size,
    packs: packs.size,
    packsRead: chosen.length,
    bytesRead,
    damagedBlobs: [...damagedIds].sort(),
    damagedBackups,
  };
}

/** @returns how many bytes were read */
async function verifyPack(
  repository: Repository,
  pack: string,
  blobs: readonly Placed[],
  damagedIds: Set<string>,
): Promise<number> {
  const end = Math.max(...blobs.map(({ offset, storedBytes }) => offset + storedBytes));
  const bytes = await repository.store.getRange(packObject(pack), 0, end);
  await inLanes(blobs, repository.coder.parallel, async ({ id, ...at }) => {
    try {
      if (bytes === undefined) throw damaged(`pack ${pack} is missing or cut off`);
      await openAt(repository, id, at, Buffer.from(bytes.subarray(at.offset, at.offset + at.storedBytes)));
    } catch (error) {
      if (!isFault(error, 'backup.damaged')) throw error;
      damagedIds.add(id.toString('hex'));
    }
  });
  return bytes?.length ?? 0;
}

/** Why a backup is damaged; `undefined`: the checked part is whole. */
async function objectionTo(
  repository: Repository,
  backupId: string,
  damagedIds: ReadonlySet<string>,
): Promise<string | undefined> {
  const missing = (id: Buffer) => !repository.blobs.has(id) || damagedIds.has(id.toString('hex'));
  try {
    const { segments } = await readManifest(repository, backupId);
    const ids = [...new Set(segments)]
      .filter((id) => id !== HOLE_SEGMENT)
      .map((id) => Buffer.from(id, 'hex'));
    if (ids.some(missing)) return 'a segment of its map is missing or changed';
    let lost = 0;
    const wanted = ids.map((id) => ({ id, item: undefined }));
    await readBlobs(repository, wanted, async (_, bytes) => {
      for (const id of idsIn(bytes)) if (!isHole(id) && missing(id)) lost += 1;
    });
    return lost === 0 ? undefined : `${lost} of its blocks are missing or changed`;
  } catch (error) {
    if (isFault(error, 'backup.damaged')) return error.message;
    throw error;
  }
}
