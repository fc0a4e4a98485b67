/**
 * What a replica's directory says about itself: one JSON file, replaced as a whole.
 *
 * A version that this code does not know is refused, never guessed at: the file decides which bytes are believed.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, isId } from '@holdfast/core/model/ids.js';
import { writeDurably } from './durable-file.js';
import { corrupt } from './layer.js';
import { systemCode } from './system-error.js';

export const FORMAT_VERSION = 1;
const METADATA_FILE = 'replica.json';

/** A layer of the chain. `id` and `name` are the same on all copies; `file` is this copy's own. */
export type LayerMetadata = { id: string; name: string; origin: 'user' | 'system'; file: string };

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
  /** Oldest first. The last one is the head, the only one that takes writes. */
  layers: readonly LayerMetadata[];
};

export async function saveMetadata(directory: string, metadata: ReplicaMetadata): Promise<void> {
  const stored = { format: FORMAT_VERSION, ...metadata };
  await writeDurably(path.join(directory, METADATA_FILE), `${JSON.stringify(stored, null, 2)}\n`);
}

/**
 * @throws StorageFault `replica.not_found`, `replica.format_unknown`, or `replica.corrupt`.
 */
export async function loadMetadata(directory: string): Promise<ReplicaMetadata> {
  let text: string;
  try {
    text = await fs.readFile(path.join(directory, METADATA_FILE), 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') {
      throw new StorageFault('replica.not_found', {
        publicMessage: 'there is no such copy here',
        cause: error,
      });
    }
    throw error;
  }
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
  if (stored.format !== FORMAT_VERSION) {
    throw new StorageFault('replica.format_unknown', {
      publicMessage: `the copy has format ${String(stored.format)}; this program knows ${FORMAT_VERSION}`,
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
  const layers = parseLayers(stored.layers);
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

function parseLayers(stored: unknown): LayerMetadata[] {
  if (!Array.isArray(stored) || stored.length === 0) throw corrupt('it has no layers');
  return stored.map((layer: unknown) => {
    if (!isObject(layer)) throw corrupt('a layer is wrong');
    const { id, name, origin, file } = layer;
    if (!isUuid(id) || typeof name !== 'string' || !isUuid(file)) throw corrupt('a layer is wrong');
    if (origin !== 'user' && origin !== 'system') throw corrupt('a layer is wrong');
    return { id, name, origin, file };
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isUuid(value: unknown): value is string {
  return typeof value === 'string' && isId(value);
}
