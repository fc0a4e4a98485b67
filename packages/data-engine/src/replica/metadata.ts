/**
 * Metadata of a replica: one JSON text with a checksum at its end, replaced atomically.
 *
 * An unknown version is refused, never guessed at: this file decides which bytes count as data.
 */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { blake3Of } from '../base/blake3.js';
import type { CopyFiles } from '../disk/disk-store.js';
import { isCount, isObject, isUuid } from '../disk/stored-values.js';
import type { LayerMetadata } from '../layers/layer-tree.js';
import { type DropMark, LAYERS_MAX, type LayerChecksum } from '../protocol/layers.js';
import { corrupt, replicaNotFound } from '../protocol/replica-faults.js';

/** Version 4: no page of marks of a map is blank. A copy of version 3 gets its marks when it is opened. */
export const FORMAT_VERSION = 4;
/** Version 3: everything that describes data has checksums. Earlier versions, never released, are refused. */
const OLDEST_VERSION = 3;
const METADATA_TEXT = 'replica.json';
const CHECKSUM_MARK = 'blake3 ';

/** Data that the data engine neither reads nor checks: agents do, before they store it and when they return it. */
export type StoredVolume = Readonly<Record<string, unknown>>;

export type ReplicaMetadata = {
  replicaId: string;
  volumeId: string;
  diskId: string;
  sizeBytes: number;
  /** Key from which the secrets of engines and readers are derived; no engine receives it. */
  secret: string;
  /** The highest epoch at which the copy was opened; lower ones are fenced. */
  epoch: number;
  /** The grant of that epoch that the copy serves; absent if its engine named none. */
  grantId?: string | null | undefined;
  /** Idempotency key of the last revert; absent before the first. */
  lastRevertId?: string | null | undefined;
  /** Description of the volume, stored for a control plane that has lost its database; null if there is none. */
  volume?: StoredVolume | null | undefined;
  /** Null until the copy is a member, or becomes one by a finished rebuild. */
  record: CopyRecord | null;
  /** The rebuild that this copy is the target of; null when the copy is complete. */
  rebuildId: string | null;
  /** Parents before their children. The last one is the head, the only one that takes writes. */
  layers: readonly LayerMetadata[];
};

/** @param begins see `CopyFiles.writeText` */
export async function saveMetadata(
  files: CopyFiles,
  metadata: ReplicaMetadata,
  begins?: () => void,
): Promise<void> {
  const stored = { format: FORMAT_VERSION, ...metadata };
  await files.writeText(METADATA_TEXT, sealText(`${JSON.stringify(stored, null, 2)}\n`), begins);
}

/**
 * @throws StorageFault `replica.not_found`, `replica.format_unknown`, or `replica.corrupt`.
 */
export async function loadMetadata(files: Pick<CopyFiles, 'readText'>): Promise<ReplicaMetadata> {
  return (await loadStoredMetadata(files)).meta;
}

/** The same, and whether it has an earlier format. */
export async function loadStoredMetadata(
  files: Pick<CopyFiles, 'readText'>,
): Promise<{ meta: ReplicaMetadata; isOld: boolean }> {
  const text = await files.readText(METADATA_TEXT);
  if (text === undefined) throw replicaNotFound();
  const { json, isSealed } = openText(text);
  let stored: unknown;
  try {
    stored = JSON.parse(json);
  } catch (error) {
    throw corrupt('its metadata is not readable', error);
  }
  const meta = parseMetadata(stored);
  if (!isSealed) throw corrupt('its metadata is cut off before its checksum');
  return { meta, isOld: isObject(stored) && stored.format !== FORMAT_VERSION };
}

function sealText(text: string): string {
  return `${text}${checksumLine(text)}`;
}

/** The text above its checksum. A text without one has another format; the caller reads the version from it. */
function openText(sealed: string): { json: string; isSealed: boolean } {
  const at = sealed.lastIndexOf(CHECKSUM_MARK);
  if (at === -1) return { json: sealed, isSealed: false };
  const text = sealed.slice(0, at);
  // The store may pad a text with line ends (`spare-text.ts`).
  if (checksumLine(text) !== `${sealed.slice(at).trimEnd()}\n`)
    throw corrupt('its metadata is not what was written');
  return { json: text, isSealed: true };
}

function checksumLine(text: string): string {
  return `${CHECKSUM_MARK}${blake3Of([Buffer.from(text)]).toString('hex')}\n`;
}

function parseMetadata(stored: unknown): ReplicaMetadata {
  if (!isObject(stored)) throw corrupt('its metadata is not an object');
  if (stored.format !== FORMAT_VERSION && stored.format !== OLDEST_VERSION) {
    throw new StorageFault('replica.format_unknown', {
      publicMessage: `the copy has format ${String(stored.format)}; this program knows ${FORMAT_VERSION}`,
      cures: ['run the version that wrote it'],
    });
  }
  const { replicaId, volumeId, diskId, sizeBytes, secret, epoch, rebuildId } = stored;
  if (!isUuid(replicaId) || !isUuid(volumeId) || !isUuid(diskId)) throw corrupt('an id is missing');
  if (!isCount(sizeBytes) || sizeBytes === 0 || sizeBytes % BLOCK_BYTES !== 0)
    throw corrupt('its size is wrong');
  if (typeof secret !== 'string' || !isCount(epoch)) throw corrupt('its secret or epoch is missing');
  if (rebuildId !== null && !isUuid(rebuildId)) throw corrupt('its rebuild is wrong');
  const grantId = parseOptionalId(stored.grantId, 'grant');
  const lastRevertId = parseOptionalId(stored.lastRevertId, 'last revert');
  const record = stored.record === null ? null : parseRecord(stored.record);
  const layers = parseLayers(stored.layers, sizeBytes);
  const ids = { replicaId, volumeId, diskId, rebuildId, grantId, lastRevertId };
  const volume = isObject(stored.volume) ? stored.volume : null;
  return { ...ids, sizeBytes, secret, epoch, volume, record, layers };
}

/** Parses an id that copies of earlier versions lack. */
function parseOptionalId(stored: unknown, what: string): string | null {
  if (stored === undefined || stored === null) return null;
  if (!isUuid(stored)) throw corrupt(`its ${what} is wrong`);
  return stored;
}

function parseRecord(stored: unknown): CopyRecord {
  if (!isObject(stored)) throw corrupt('its record is wrong');
  const { epoch, dataGeneration, members } = stored;
  if (!isCount(epoch) || !isCount(dataGeneration) || !Array.isArray(members) || !members.every(isUuid)) {
    throw corrupt('its record is wrong');
  }
  const record = { epoch, dataGeneration, members: members.map((member): ReplicaId => asId(member)) };
  const { durable } = stored;
  if (durable === undefined) return record;
  if (!isObject(durable) || !isCount(durable.epoch) || !isCount(durable.dataGeneration)) {
    throw corrupt('its record is wrong');
  }
  return { ...record, durable: { epoch: durable.epoch, dataGeneration: durable.dataGeneration } };
}

function parseLayers(stored: unknown, volumeBytes: number): LayerMetadata[] {
  if (!Array.isArray(stored) || stored.length === 0 || stored.length > LAYERS_MAX) {
    throw corrupt('it has no layers, or too many');
  }
  const layers: LayerMetadata[] = [];
  for (const layer of stored) {
    const parsed = parseLayer(layer, volumeBytes);
    const hasParent = parsed.parentId === null || layers.some(({ id }) => id === parsed.parentId);
    if (!hasParent) throw corrupt('a layer stands on one that is not there');
    layers.push(parsed);
  }
  return layers;
}

function parseLayer(stored: unknown, volumeBytes: number): LayerMetadata {
  if (!isObject(stored)) throw corrupt('a layer is wrong');
  const { id, name, origin, file } = stored;
  if (!isUuid(id) || typeof name !== 'string' || !isUuid(file)) throw corrupt('a layer is wrong');
  if (origin !== 'user' && origin !== 'system') throw corrupt('a layer is wrong');
  const { parentId, sizeBytes, createdAt, removed } = stored;
  if (parentId !== null && !isUuid(parentId)) throw corrupt('the parent of a layer is wrong');
  if (!isCount(sizeBytes) || sizeBytes === 0 || sizeBytes % BLOCK_BYTES !== 0 || sizeBytes > volumeBytes) {
    throw corrupt('the size of a layer is wrong');
  }
  if (typeof createdAt !== 'string' || typeof removed !== 'boolean') throw corrupt('a layer is wrong');
  const drop = parseDrop(stored.drop);
  const checksum = parseChecksum(stored.checksum);
  return { id, name, origin, parentId, sizeBytes, createdAt, removed, drop, file, checksum };
}

function parseDrop(stored: unknown): DropMark | null {
  if (stored === undefined || stored === null) return null;
  if (!isObject(stored)) throw corrupt('a drop mark is wrong');
  const { replicaIds, regions, regionBytes, sinceEpoch } = stored;
  if (!Array.isArray(replicaIds) || !replicaIds.every(isUuid)) throw corrupt('a drop mark is wrong');
  if (!Array.isArray(regions) || !isCount(regionBytes) || !isCount(sinceEpoch)) {
    throw corrupt('a drop mark is wrong');
  }
  const { sinceGeneration } = stored;
  if (sinceGeneration !== undefined && !isCount(sinceGeneration)) throw corrupt('a drop mark is wrong');
  return { replicaIds, regionBytes, sinceEpoch, sinceGeneration, regions: regions.map(parseRun) };
}

function parseRun(stored: unknown): [number, number] {
  if (!Array.isArray(stored)) throw corrupt('a drop mark is wrong');
  const [first, count]: unknown[] = stored;
  if (!isCount(first) || !isCount(count)) throw corrupt('a drop mark is wrong');
  return [first, count];
}

/** An unreadable checksum counts as none: checksums only save work. */
function parseChecksum(stored: unknown): LayerChecksum | undefined {
  if (!isObject(stored)) return undefined;
  const { algorithm, value, heldBytes, changeTime, hashedAt } = stored;
  if (algorithm !== 'blake3' || typeof value !== 'string' || !isCount(heldBytes)) return undefined;
  if (typeof changeTime !== 'string' || typeof hashedAt !== 'string') return undefined;
  return { algorithm, value, heldBytes, changeTime, hashedAt };
}
