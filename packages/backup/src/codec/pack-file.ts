/**
 * Packs: a header, sealed blobs one behind the other, their directory, and where that begins. The index says all of it too; the directory is
 * for a repair that has no index left.
 */

import type { IndexEntry } from '../model/format.js';
import { packObject } from '../model/names.js';
import { damaged } from './damage.js';
import { decodeIndex, encodeIndex } from './index-file.js';
import type { RepositoryKeys } from './keys.js';
import { openObject, sealObject } from './sealed-object.js';

const HEADER = Buffer.from('HFPACK01', 'latin1');
const TRAILER = Buffer.from('HFPKEND1', 'latin1');
export const PACK_HEADER_BYTES = HEADER.length;
/** Length of the directory, and the mark of the end. */
export const PACK_TRAILER_BYTES = 4 + TRAILER.length;

export const writePackHeader = (pack: Buffer): number => HEADER.copy(pack, 0);

/** What stands behind the blobs. */
export function packEnd(keys: RepositoryKeys, pack: string, entries: readonly IndexEntry[]): Buffer {
  const directory = sealObject(keys, `${packObject(pack)} directory`, encodeIndex(entries));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(directory.length);
  return Buffer.concat([directory, length, TRAILER]);
}

/** Bytes of the directory, from a pack's last ones. */
export function directoryBytes(end: Buffer, pack: string): number {
  const at = end.length - PACK_TRAILER_BYTES;
  if (at < 0 || !end.subarray(-TRAILER.length).equals(TRAILER)) throw damaged(`pack ${pack} is cut off`);
  return end.readUInt32LE(at);
}

/** @param sealed the directory as it is stored */
export function openDirectory(keys: RepositoryKeys, pack: string, sealed: Buffer): IndexEntry[] {
  const entries = decodeIndex(openObject(keys, `${packObject(pack)} directory`, sealed));
  if (entries.some((entry) => entry.pack !== pack)) throw damaged(`pack ${pack} has another one's directory`);
  return entries;
}
