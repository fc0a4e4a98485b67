/** Which parts of a sparse file hold data: Linux's SEEK_DATA and SEEK_HOLE, which Node does not offer. */
import { createRequire } from 'node:module';
import type { KoffiFunc } from 'koffi';
import { unusable } from './longhorn-faults.js';

const SEEK_DATA = 3;
const SEEK_HOLE = 4;
const EXTENTS_MAX = 16 * 1024 * 1024;

export type Extent = { readonly offset: number; readonly end: number };

type Seek = KoffiFunc<(fd: number, offset: number, whence: number) => number>;
let loaded: Seek | undefined;

function seek(): Seek {
  if (loaded === undefined) {
    // Loaded at first use: nothing else of a backup needs the native module.
    const require = createRequire(import.meta.url);
    const koffi = require('koffi') as typeof import('koffi');
    loaded = koffi.load('libc.so.6').func('int64_t lseek64(int fd, int64_t offset, int whence)');
  }
  return loaded;
}

/** Parts of a file with data, in order. @param sizeBytes of the file */
export function extentsOf(fd: number, sizeBytes: number): Extent[] {
  const extents: Extent[] = [];
  for (let at = 0; at < sizeBytes; ) {
    const offset = seek()(fd, at, SEEK_DATA);
    // None behind: the rest is a hole.
    if (offset < 0 || offset >= sizeBytes) break;
    const hole = seek()(fd, offset, SEEK_HOLE);
    const end = hole <= offset ? sizeBytes : Math.min(hole, sizeBytes);
    extents.push({ offset, end });
    if (extents.length > EXTENTS_MAX) throw unusable('a layer lies in too many pieces');
    at = end;
  }
  return extents;
}
