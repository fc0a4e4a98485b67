/** Wanted entries of a zip archive, found by its central directory: others are not unpacked. */
import type { Readable } from 'node:stream';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { ENTRIES_MAX, FILE_BYTES_MAX, RATIO_FREE_BYTES, RATIO_MAX } from './bounds.js';
import type { ReadProblem } from './problem.js';
import type { SourcePart } from './source-part.js';

export async function* zipFiles(
  archive: string,
  isWanted: (name: string) => boolean,
): AsyncGenerator<SourcePart> {
  let zip: ZipFile;
  try {
    zip = await opened(archive);
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
      const file = `${archive}/${entry.fileName}`;
      if (entry.fileName.endsWith('/')) continue;
      yield isWanted(entry.fileName) ? await readEntry(zip, entry, file) : { kind: 'unread', file };
    }
  } catch (error) {
    // The directory itself is broken: what follows can't be found.
    yield problem('format', archive, `the archive can't be read on: ${textOf(error)}`);
  } finally {
    zip.close();
  }
}

async function readEntry(zip: ZipFile, entry: Entry, file: string): Promise<SourcePart> {
  const { compressedSize, uncompressedSize } = entry;
  if (uncompressedSize > FILE_BYTES_MAX)
    return problem(
      'bound',
      file,
      `the entry has ${uncompressedSize} bytes, and at most ${FILE_BYTES_MAX} are read`,
    );
  if (uncompressedSize > RATIO_FREE_BYTES && uncompressedSize > compressedSize * RATIO_MAX)
    return problem('bound', file, `the entry grows to more than ${RATIO_MAX} times its packed size`);
  try {
    return { kind: 'text', file, text: await textOfEntry(zip, entry) };
  } catch (error) {
    return problem('format', file, `the entry can't be unpacked: ${textOf(error)}`);
  }
}

function opened(archive: string): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    // Sizes are checked while an entry is unpacked: one that exceeds its size in the directory is an error.
    const options = { lazyEntries: true, autoClose: false, validateEntrySizes: true, strictFileNames: false };
    yauzl.open(archive, options, (error, zip) => (error === null ? resolve(zip) : reject(error)));
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

async function textOfEntry(zip: ZipFile, entry: Entry): Promise<string> {
  const stream = await new Promise<Readable>((resolve, reject) => {
    zip.openReadStream(entry, (error, opened) => (error === null ? resolve(opened) : reject(error)));
  });
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function problem(code: ReadProblem['code'], file: string, message: string): ReadProblem {
  return { kind: 'problem', code, file, line: 1, message };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
