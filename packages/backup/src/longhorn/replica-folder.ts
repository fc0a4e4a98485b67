/**
 * A replica's folder of Longhorn, read: the layers of a volume, of which a block belongs to the newest one whose file has an extent there. For
 * detached volumes, or for a copy of the folder.
 */
import { constants } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { LAYERS_MAX, META_BYTES_MAX, READ_BYTES, VOLUME_BYTES_MAX } from './bounds.js';
import { type Extent, extentsOf } from './file-extents.js';
import { unusable } from './longhorn-faults.js';
import type { BlockTarget } from './restore-backup.js';

const LAYER_NAME = /^volume-(head-\d{3,}|snap-[a-zA-Z0-9_.-]+)\.img$/;

const volumeSchema = z.object({
  Size: z.int().positive().max(VOLUME_BYTES_MAX),
  Head: z.string().regex(LAYER_NAME),
  Dirty: z.boolean().default(false),
  Rebuilding: z.boolean().default(false),
  Error: z.string().default(''),
  BackingFilePath: z.string().default(''),
  BackingFileName: z.string().default(''),
  Encrypted: z.boolean().default(false),
});

const layerSchema = z.object({ Parent: z.union([z.literal(''), z.string().regex(LAYER_NAME)]).default('') });

export type ReplicaFolder = {
  readonly folder: string;
  readonly sizeBytes: number;
  /** File names of the layers, the newest first. */
  readonly layers: readonly string[];
  /** What LUKS made of the data is passed on as it is: the same passphrase opens it. */
  readonly isEncrypted: boolean;
  readonly warnings: readonly string[];
};

export type ReplicaOptions = {
  /** Begin at this snapshot instead of the head. */
  readonly snapshot?: string;
};

/** @throws StorageFault `longhorn_replica.unusable`, with the reason */
export async function openReplicaFolder(
  folder: string,
  { snapshot }: ReplicaOptions = {},
): Promise<ReplicaFolder> {
  const meta = await metaOf(folder, 'volume.meta', volumeSchema);
  if (meta.Rebuilding)
    throw unusable('the replica was being rebuilt: it is no full copy', [
      'choose another replica of the volume',
    ]);
  const image = meta.BackingFilePath || meta.BackingFileName;
  if (image !== '')
    throw unusable(`the volume stands on the backing image ${image}, which its replicas leave out`);
  const first = snapshot === undefined ? meta.Head : `volume-snap-${snapshot}.img`;
  const warnings = [
    ...(meta.Dirty ? ['the replica was not closed: its volume is attached, or its node died'] : []),
    ...(meta.Error === '' ? [] : [`Longhorn had stopped it with an error: ${meta.Error}`]),
  ];
  return {
    folder,
    sizeBytes: meta.Size,
    layers: await chainFrom(folder, first),
    isEncrypted: meta.Encrypted,
    warnings,
  };
}

async function chainFrom(folder: string, first: string): Promise<string[]> {
  const layers: string[] = [];
  for (let name = first; name !== ''; ) {
    if (!LAYER_NAME.test(name)) throw unusable(`${name} is no layer`);
    if (layers.includes(name)) throw unusable(`its layers go round in a circle at ${name}`);
    if (layers.length >= LAYERS_MAX) throw unusable(`it has more than ${LAYERS_MAX} layers`);
    layers.push(name);
    name = (await metaOf(folder, `${name}.meta`, layerSchema)).Parent;
  }
  return layers;
}

async function metaOf<Schema extends z.ZodType>(
  folder: string,
  name: string,
  schema: Schema,
): Promise<z.output<Schema>> {
  const file = path.join(folder, name);
  try {
    const { size } = await fs.stat(file);
    if (size > META_BYTES_MAX) throw new Error('too large');
    return schema.parse(JSON.parse(await fs.readFile(file, 'utf8')));
  } catch (error) {
    throw unusable(`${file} can't be read: ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) return `${error.issues[0]?.path.join('.')} ${error.issues[0]?.message}`;
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && error.code === 'ENOENT' ? 'there is no such file' : error.message;
}

/** Writes what the layers hold. @returns bytes written */
export async function copyReplica(
  replica: ReplicaFolder,
  target: BlockTarget,
  onProgress?: (doneBytes: number) => void,
): Promise<number> {
  let doneBytes = 0;
  let open: Extent[] = [{ offset: 0, end: replica.sizeBytes }];
  for (const name of replica.layers) {
    if (open.length === 0) break;
    const file = await openLayer(replica, name);
    try {
      const { taken, rest } = divide(open, extentsOf(file.fd, replica.sizeBytes));
      for (const part of taken)
        for await (const { offset, bytes } of partsOf(file, name, part)) {
          await target.write(offset, bytes);
          doneBytes += bytes.length;
          onProgress?.(doneBytes);
        }
      open = rest;
    } finally {
      await file.close();
    }
  }
  return doneBytes;
}

async function openLayer({ folder, sizeBytes }: ReplicaFolder, name: string): Promise<fs.FileHandle> {
  const at = path.join(folder, name);
  const file = await fs
    .open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    .catch((error: unknown) => {
      throw unusable(`${at} can't be read: ${reasonOf(error)}`);
    });
  const { size } = await file.stat();
  // Snapshots from before an expansion are shorter: what is behind their end is a hole.
  if (size <= sizeBytes) return file;
  await file.close();
  throw unusable(`${at} has ${size} bytes, more than its volume`);
}

async function* partsOf(file: fs.FileHandle, name: string, { offset, end }: Extent) {
  for (let at = offset; at < end; at += READ_BYTES) {
    const bytes = Buffer.alloc(Math.min(READ_BYTES, end - at));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, at);
    if (bytesRead !== bytes.length) throw unusable(`${name} was cut off while it was read`);
    yield { offset: at, bytes };
  }
}

/** Of the parts that no newer layer holds, those that this one does, and those that are left for older ones. Both lists are in order. */
export function divide(
  open: readonly Extent[],
  held: readonly Extent[],
): { taken: Extent[]; rest: Extent[] } {
  const taken: Extent[] = [];
  const rest: Extent[] = [];
  let next = 0;
  for (const part of open) {
    let at = part.offset;
    while (next < held.length && (held[next]?.end ?? 0) <= at) next += 1;
    for (let index = next; at < part.end; index += 1) {
      const extent = held[index];
      if (extent === undefined || extent.offset >= part.end) break;
      const begin = Math.max(at, extent.offset);
      const end = Math.min(part.end, extent.end);
      if (begin > at) rest.push({ offset: at, end: begin });
      taken.push({ offset: begin, end });
      at = end;
    }
    if (at < part.end) rest.push({ offset: at, end: part.end });
  }
  return { taken, rest };
}
