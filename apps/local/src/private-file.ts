import fs from 'node:fs';
import path from 'node:path';

/** Reads a JSON file that this stack wrote; `undefined` when there is none. */
export function readJson<T>(file: string): T | undefined {
  try {
    // The cast: only this stack writes its home, so the shape is the written one.
    return JSON.parse(fs.readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw new Error(`${file} can't be read; move it away to make a new one`, { cause: error });
  }
}

/** Writes a file that only its owner may read, in one step: a reader sees the old or the new content, never a part. */
export function writeJsonPrivately(file: string, value: unknown): void {
  const temporary = `${file}.${process.pid}.tmp`;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  fs.renameSync(temporary, file);
}

/** Makes a folder that only its owner may read; an existing one becomes so. */
export function makePrivateFolder(folder: string): void {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  fs.chmodSync(folder, 0o700);
}

/** Opens a log to write on at its end, which only its owner may read. One that an older version made is closed to others first. */
export function openPrivateLog(file: string): number {
  const log = fs.openSync(file, 'a', 0o600);
  fs.fchmodSync(log, 0o600);
  return log;
}

function isMissing(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
}
