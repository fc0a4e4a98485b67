/** Files with objects and logs, from a file, a folder or zip archives. All else stays unread. */
import { createReadStream } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import {
  ARCHIVE_BYTES_MAX,
  ENTRIES_MAX,
  FILE_BYTES_MAX,
  FOLDERS_DEEP_MAX,
  TEXT_BYTES_MAX,
} from './bounds.js';
import { kindOf } from './file-kinds.js';
import { logPieces } from './log-pieces.js';
import type { ReadProblem } from './problem.js';
import type { SourcePart } from './source-part.js';
import { zipFiles } from './zip-files.js';

/** @throws Error of the file system where there is nothing at that path */
export async function* sourceFiles(root: string): AsyncGenerator<SourcePart> {
  let left = TEXT_BYTES_MAX;
  for await (const part of partsOf(root, 0, { entries: 0 })) {
    if (part.kind !== 'text') {
      yield part;
      continue;
    }
    left -= part.text.length;
    if (left < 0) {
      const message = `more than ${TEXT_BYTES_MAX} bytes of objects: the rest is not read`;
      yield { kind: 'problem', code: 'bound', file: part.file, line: 1, message };
      return;
    }
    yield part;
  }
}

async function* partsOf(at: string, deep: number, seen: { entries: number }): AsyncGenerator<SourcePart> {
  // A link may lead out of the folder or round in it, so only the path that a user named is followed.
  const entry = deep === 0 ? await fs.stat(at) : await fs.lstat(at);
  if (entry.isDirectory()) {
    if (deep >= FOLDERS_DEEP_MAX) return yield bound(at, `folders lie more than ${FOLDERS_DEEP_MAX} deep`);
    for (const name of (await fs.readdir(at)).sort()) {
      seen.entries += 1;
      if (seen.entries > ENTRIES_MAX) return yield bound(at, `more than ${ENTRIES_MAX} files`);
      yield* partsOf(path.join(at, name), deep + 1, seen);
    }
    return;
  }
  if (!entry.isFile()) return yield { kind: 'unread', file: at };
  if (await isZip(at)) return yield* zipParts(at, entry.size);
  const kind = deep > 0 ? kindOf(at) : 'objects';
  if (kind === 'unread' || kind === 'archive') return yield { kind: 'unread', file: at };
  if (kind === 'log') return yield { kind: 'log', file: at, pieces: logPieces(createReadStream(at)) };
  if (entry.size > FILE_BYTES_MAX) return yield bound(at, `the file is larger than ${FILE_BYTES_MAX} bytes`);
  yield { kind: 'text', file: at, text: await fs.readFile(at, 'utf8') };
}

async function* zipParts(at: string, sizeBytes: number): AsyncGenerator<SourcePart> {
  if (sizeBytes > ARCHIVE_BYTES_MAX)
    return yield bound(at, `the archive is larger than ${ARCHIVE_BYTES_MAX} bytes`);
  yield* zipFiles(at);
}

function bound(file: string, message: string): ReadProblem {
  return { kind: 'problem', code: 'bound', file, line: 1, message };
}

async function isZip(file: string): Promise<boolean> {
  const handle = await fs.open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    return bytesRead === 4 && ['504b0304', '504b0506'].includes(buffer.toString('hex'));
  } finally {
    await handle.close();
  }
}
