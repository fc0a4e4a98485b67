/**
 * What a replica says about itself: one JSON text, replaced as a whole.
 *
 * A version that this code does not know is refused, never guessed at: the file decides which bytes are believed.
 */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId } from '@holdfast/core/model/ids.js';
import type { CopyFiles } from './disk-store.js';
import { corrupt } from './layer.js';
import type { LayerMetadata } from './layer-tree.js';
import { parseLayers } from './parse-layers.js';
import { replicaNotFound } from './replica-faults.js';
import { isCount, isObject, isUuid } from './stored-values.js';

/** 2: layers form a tree and have sizes of their own. A copy of format 1 is read as a plain chain. */
export const FORMAT_VERSION = 2;
const FORMATS_READ: readonly unknown[] = [1, FORMAT_VERSION];
const METADATA_TEXT = 'replica.json';

export type ReplicaMetadata = {
  replicaId: string;
  volumeId: string;
  diskId: string;
  sizeBytes: number;
  secret: string;
  /** The highest epoch at which the copy was opened; lower ones are refused. */
  epoch: number;
  /** Null until the copy is, or by a finished rebuild becomes, a member. */
  record: CopyRecord | null;
  /** The rebuild that fills this copy; null when the copy is whole. */
  rebuildId: string | null;
  /** Parents before their children. The last one is the head, the only one that takes writes. */
  layers: readonly LayerMetadata[];
};

export async function saveMetadata(files: CopyFiles, metadata: ReplicaMetadata): Promise<void> {
  const stored = { format: FORMAT_VERSION, ...metadata };
  await files.writeText(METADATA_TEXT, `${JSON.stringify(stored, null, 2)}\n`);
}

/**
 * @throws StorageFault `replica.not_found`, `replica.format_unknown`, or `replica.corrupt`.
 */
export async function loadMetadata(files: Pick<CopyFiles, 'readText'>): Promise<ReplicaMetadata> {
  const text = await files.readText(METADATA_TEXT);
  if (text === undefined) throw replicaNotFound();
  let stored: unknown;
  try {
    stored = JSON.parse(text);
  } catch (error) {
    throw corrupt('its metadata is not readable', error);
  }
  return parseMetadata(stored);
}

function parseMetadata(stored: unknown): ReplicaMetadata {
  if (!isObject(stored)) throw corrupt('its metadata is not an object');
  if (!FORMATS_READ.includes(stored.format)) {
    throw new StorageFault('replica.format_unknown', {
      publicMessage: `the copy has format ${String(stored.format)}; this program knows up to ${FORMAT_VERSION}`,
      cures: ['run the version that wrote it, or a newer one'],
    });
  }
  const { replicaId, volumeId, diskId, sizeBytes, secret, epoch, rebuildId } = stored;
  if (!isUuid(replicaId) || !isUuid(volumeId) || !isUuid(diskId)) throw corrupt('an id is missing');
  if (!isCount(sizeBytes) || sizeBytes === 0 || sizeBytes % BLOCK_BYTES !== 0)
    throw corrupt('its size is wrong');
  if (typeof secret !== 'string' || !isCount(epoch)) throw corrupt('its secret or epoch is missing');
  if (rebuildId !== null && !isUuid(rebuildId)) throw corrupt('its rebuild is wrong');
  const record = stored.record === null ? null : parseRecord(stored.record);
  const layers = parseLayers(stored.layers, sizeBytes);
  return { replicaId, volumeId, diskId, sizeBytes, secret, epoch, rebuildId, record, layers };
}

function parseRecord(stored: unknown): CopyRecord {
  if (!isObject(stored)) throw corrupt('its record is wrong');
  const { epoch, dataGeneration, members } = stored;
  if (!isCount(epoch) || !isCount(dataGeneration) || !Array.isArray(members) || !members.every(isUuid)) {
    throw corrupt('its record is wrong');
  }
  return { epoch, dataGeneration, members: members.map((member) => asId(member)) };
}
