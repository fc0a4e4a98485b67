/** Catalog of a copy on a block disk: its texts and files, as the JSON that its root names. */
import { corrupt } from '../../protocol/replica-faults.js';
import { isCount, isObject } from '../stored-values.js';

const FORMAT = 1;

export type StoredFile = {
  name: string;
  /** 16 bytes in hexadecimal. */
  id: string;
  sizeBytes: number;
  /** Change count. Raised before the file changes, so that a checksum taken earlier is known to be stale. */
  changes: number;
  /** Pairs of index and cluster: where the file's map pages are. */
  directory: [number, number][];
};

export type Catalog = { texts: ReadonlyMap<string, string>; files: readonly StoredFile[] };

export function encodeCatalog({ texts, files }: Catalog): Buffer {
  return Buffer.from(JSON.stringify({ format: FORMAT, texts: Object.fromEntries(texts), files }));
}

/** @throws StorageFault `replica.corrupt` */
export function decodeCatalog(bytes: Buffer): Catalog {
  let stored: unknown;
  try {
    stored = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw corrupt('its catalog is not readable', error);
  }
  if (
    !isObject(stored) ||
    stored.format !== FORMAT ||
    !isObject(stored.texts) ||
    !Array.isArray(stored.files)
  ) {
    throw corrupt('its catalog has an unknown form');
  }
  const texts = new Map<string, string>();
  for (const [name, text] of Object.entries(stored.texts)) {
    if (typeof text !== 'string') throw corrupt('a text of its catalog is wrong');
    texts.set(name, text);
  }
  return { texts, files: stored.files.map(parseFile) };
}

function parseFile(stored: unknown): StoredFile {
  if (!isObject(stored)) throw corrupt('a file of its catalog is wrong');
  const { name, id, sizeBytes, changes, directory } = stored;
  if (typeof name !== 'string' || typeof id !== 'string' || !/^[0-9a-f]{32}$/.test(id)) {
    throw corrupt('a file of its catalog has no name');
  }
  if (!isCount(sizeBytes) || !isCount(changes) || !Array.isArray(directory) || !directory.every(isPair)) {
    throw corrupt(`${name} is described wrongly`);
  }
  return { name, id, sizeBytes, changes, directory };
}

function isPair(value: unknown): value is [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every(isCount);
}
