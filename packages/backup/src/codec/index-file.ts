/** Index objects and directories of packs: where blobs lie, 46 bytes each. */
import { BLOB_KIND, CODEC, ID_BYTES, INDEX_ENTRIES_MAX, type IndexEntry } from '../model/format.js';
import { packOf, packParts } from '../model/names.js';
import { damaged } from './damage.js';

const ENTRY_BYTES = 46;
const PACK_BYTES = 24;
const RUN_BYTES = 16;

/** Groups entries by pack; within a pack they keep their order. */
export function encodeIndex(entries: readonly IndexEntry[]): Buffer {
  const packs = grouped(entries);
  const bytes = Buffer.alloc(4 + packs.size * PACK_BYTES + entries.length * ENTRY_BYTES);
  let at = bytes.writeUInt32LE(packs.size, 0);
  for (const [pack, blobs] of packs) {
    const { run, number } = packParts(pack) ?? { run: '', number: 0 };
    at += bytes.write(run, at, 'hex');
    at = bytes.writeUInt32LE(number, at);
    at = bytes.writeUInt32LE(blobs.length, at);
    for (const blob of blobs) at = writeEntry(bytes, at, blob);
  }
  return bytes;
}

function grouped(entries: readonly IndexEntry[]): Map<string, IndexEntry[]> {
  const packs = new Map<string, IndexEntry[]>();
  for (const entry of entries) {
    const blobs = packs.get(entry.pack);
    if (blobs === undefined) packs.set(entry.pack, [entry]);
    else blobs.push(entry);
  }
  return packs;
}

function writeEntry(bytes: Buffer, begin: number, blob: IndexEntry): number {
  bytes.set(blob.id, begin);
  let at = bytes.writeUInt32LE(blob.offset, begin + ID_BYTES);
  at = bytes.writeUInt32LE(blob.storedBytes, at);
  at = bytes.writeUInt32LE(blob.rawBytes, at);
  at = bytes.writeUInt8(blob.codec, at);
  return bytes.writeUInt8(blob.kind, at);
}

/** @throws StorageFault `backup.damaged` */
export function decodeIndex(bytes: Buffer): IndexEntry[] {
  const entries: IndexEntry[] = [];
  try {
    const packs = bytes.readUInt32LE(0);
    let at = 4;
    for (let pack = 0; pack < packs; pack += 1) {
      const name = packOf(bytes.toString('hex', at, at + RUN_BYTES), bytes.readUInt32LE(at + RUN_BYTES));
      const count = bytes.readUInt32LE(at + RUN_BYTES + 4);
      at += PACK_BYTES;
      if (entries.length + count > INDEX_ENTRIES_MAX) throw new Error('too many entries');
      for (let index = 0; index < count; index += 1)
        entries.push(readEntry(bytes, at + index * ENTRY_BYTES, name));
      at += count * ENTRY_BYTES;
    }
    if (at !== bytes.length) throw new Error('bytes are left over');
  } catch (error) {
    throw damaged('an index is not in its form', error);
  }
  return entries;
}

function readEntry(bytes: Buffer, at: number, pack: string): IndexEntry {
  const codec = bytes.readUInt8(at + 44);
  const kind = bytes.readUInt8(at + 45);
  return {
    id: bytes.subarray(at, at + ID_BYTES),
    pack,
    offset: bytes.readUInt32LE(at + 32),
    storedBytes: bytes.readUInt32LE(at + 36),
    rawBytes: bytes.readUInt32LE(at + 40),
    codec: codec === CODEC.zstd ? CODEC.zstd : CODEC.none,
    kind: kind === BLOB_KIND.segment ? BLOB_KIND.segment : BLOB_KIND.block,
  };
}
