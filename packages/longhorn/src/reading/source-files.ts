/** Files with objects, out of a file, a folder or zip archives. Logs and all else that holds no objects stay unread. */
import fs from 'node:fs/promises';
import path from 'node:path';
import {
  ARCHIVE_BYTES_MAX,
  ENTRIES_MAX,
  FILE_BYTES_MAX,
  FOLDERS_DEEP_MAX,
  TEXT_BYTES_MAX,
} from './bounds.js';
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
  if (await isZip(at)) return yield* zipParts(at, entry.size, deep);
  if (deep > 0 && !holdsObjects(at)) return yield { kind: 'unread', file: at };
  if (entry.size > FILE_BYTES_MAX) return yield bound(at, `the file is larger than ${FILE_BYTES_MAX} bytes`);
  yield { kind: 'text', file: at, text: await fs.readFile(at, 'utf8') };
}

async function* zipParts(at: string, sizeBytes: number, deep: number): AsyncGenerator<SourcePart> {
  // Archives of single nodes hold logs and facts of the host.
  if (deep > 0 && path.basename(path.dirname(at)) === 'nodes') return yield { kind: 'unread', file: at };
  if (sizeBytes > ARCHIVE_BYTES_MAX)
    return yield bound(at, `the archive is larger than ${ARCHIVE_BYTES_MAX} bytes`);
  yield* zipFiles(at, holdsObjects);
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

/** Groups of the Kubernetes API whose folders are read: Longhorn's own, and the core group's nodes. */
const KIT_FOLDER = /(?:^|\/)yamls\/(?:cluster|namespaced)\//;
const KIT_READ = /\/longhorn\.io\/[^/]+\/[^/]+$|\/yamls\/cluster\/v1\/nodes\.yaml$/;
/** Of Longhorn's own bundles up to 1.3. */
const OLD_KUBERNETES = /(?:^|\/)yamls\/kubernetes\/(?!nodes\.)/;
/** Metadata of a bundle, beside its folder `yamls`. */
const OF_BUNDLE = /(?:^|\/)metadata\.ya?ml$|prometheus-alerts\.json$/;
const OBJECTS = /\.(?:ya?ml|json)$/i;

export function holdsObjects(file: string): boolean {
  const name = file.replaceAll('\\', '/');
  if (!OBJECTS.test(name) || OF_BUNDLE.test(name)) return false;
  if (KIT_FOLDER.test(name)) return KIT_READ.test(name);
  return !OLD_KUBERNETES.test(name);
}
