/** Wanted entries of a zip archive, found by its central directory: others are not unpacked. */
import type { Readable } from 'node:stream';
import yauzl, { type Entry, type Options, type ZipFile } from 'yauzl';
import {
  ENTRIES_MAX,
  FILE_BYTES_MAX,
  INNER_ARCHIVE_BYTES_MAX,
  RATIO_FREE_BYTES,
  RATIO_MAX,
} from './bounds.js';
import { kindOf } from './file-kinds.js';
import { logPieces } from './log-pieces.js';
import type { ReadProblem } from './problem.js';
import type { SourcePart } from './source-part.js';

export function zipFiles(archive: string): AsyncGenerator<SourcePart> {
  return partsOf(archive, () => opened((options, done) => yauzl.open(archive, options, done)), false);
}

async function* partsOf(
  archive: string,
  open: () => Promise<ZipFile>,
  isInner: boolean,
): AsyncGenerator<SourcePart> {
  let zip: ZipFile;
  try {
    zip = await open();
  } catch (error) {
    return yield problem('format', archive, `the archive can't be read: ${textOf(error)}`);
  }
  try {
    if (zip.entryCount > ENTRIES_MAX)
      return yield problem(
        'bound',
        archive,
        `the archive has ${zip.entryCount} entries, and at most ${ENTRIES_MAX} are read`,
      );
    for (;;) {
      const entry = await nextEntry(zip);
      if (entry === undefined) return;
      if (!entry.fileName.endsWith('/'))
        yield* partsOfEntry(zip, entry, `${archive}/${entry.fileName}`, isInner);
    }
  } catch (error) {
    // The directory itself is broken: the entries that follow can't be found.
    yield problem('format', archive, `the archive can't be read on: ${textOf(error)}`);
  } finally {
    zip.close();
  }
}

async function* partsOfEntry(
  zip: ZipFile,
  entry: Entry,
  file: string,
  isInner: boolean,
): AsyncGenerator<SourcePart> {
  const kind = kindOf(entry.fileName);
  // An archive of one node holds no other archives.
  if (kind === 'unread' || (isInner && kind !== 'log')) return yield { kind: 'unread', file };
  const refused = refusalOf(entry, file, kind);
  if (refused !== undefined) return yield refused;
  try {
    if (kind === 'log') return yield { kind: 'log', file, pieces: logPieces(await streamOf(zip, entry)) };
    const bytes = await bytesOf(zip, entry);
    if (kind === 'objects') return yield { kind: 'text', file, text: bytes.toString('utf8') };
    yield* partsOf(file, () => opened((options, done) => yauzl.fromBuffer(bytes, options, done)), true);
  } catch (error) {
    yield problem('format', file, `the entry can't be unpacked: ${textOf(error)}`);
  }
}

/** A log is read in pieces, and its bytes are counted as they come; of all else the directory says how much memory it takes. */
function refusalOf(
  { compressedSize, uncompressedSize }: Entry,
  file: string,
  kind: string,
): ReadProblem | undefined {
  if (kind === 'log') return undefined;
  const most = kind === 'archive' ? INNER_ARCHIVE_BYTES_MAX : FILE_BYTES_MAX;
  if (uncompressedSize > most)
    return problem('bound', file, `the entry has ${uncompressedSize} bytes, and at most ${most} are read`);
  if (uncompressedSize > RATIO_FREE_BYTES && uncompressedSize > compressedSize * RATIO_MAX)
    return problem('bound', file, `the entry grows to more than ${RATIO_MAX} times its packed size`);
  return undefined;
}

type Opening = (options: Options, done: (error: Error | null, zip: ZipFile) => void) => void;

function opened(open: Opening): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    // Sizes are checked while an entry is unpacked: one that exceeds its size in the directory is an error.
    const options = { lazyEntries: true, autoClose: false, validateEntrySizes: true, strictFileNames: false };
    open(options, (error, zip) => (error === null ? resolve(zip) : reject(error)));
  });
}

/** `undefined`: there are no more. */
function nextEntry(zip: ZipFile): Promise<Entry | undefined> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      for (const name of ['entry', 'end', 'error']) zip.removeAllListeners(name);
      act();
    };
    zip.once('entry', (entry) => settle(() => resolve(entry)));
    zip.once('end', () => settle(() => resolve(undefined)));
    zip.once('error', (error) => settle(() => reject(error)));
    zip.readEntry();
  });
}

function streamOf(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise<Readable>((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error === null ? resolve(stream) : reject(error)));
  });
}

async function bytesOf(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await streamOf(zip, entry)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function problem(code: ReadProblem['code'], file: string, message: string): ReadProblem {
  return { kind: 'problem', code, file, line: 1, message };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
