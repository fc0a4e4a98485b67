// What `dd` takes on the same disk, with direct I/O: the baseline of rebuilds.
import { spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { MIB } from './stack.js';

const PIECE_BYTES = 16 * MIB;

/** One file after the other. */
export function secondsToRead(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + timedCopy(file, '/dev/null', ['iflag=direct']), 0);
}

/** As many bytes of a plain file to another one. */
export function secondsToCopy(folder: string, bytes: number): number {
  const [from, to] = [plainFile(folder, bytes), path.join(folder, 'plain-copy')];
  const seconds = timedCopy(from, to, ['iflag=direct', 'oflag=direct', 'conv=fdatasync']);
  for (const file of [from, to]) fs.rmSync(file);
  return seconds;
}

/** A file of the folder with data that can't be compressed. */
export function plainFile(folder: string, bytes: number): string {
  const file = path.join(folder, 'plain');
  const fd = fs.openSync(file, 'w');
  for (let done = 0; done < bytes; done += PIECE_BYTES) fs.writeSync(fd, crypto.randomBytes(PIECE_BYTES));
  fs.fsyncSync(fd);
  fs.closeSync(fd);
  return file;
}

function timedCopy(from: string, to: string, flags: readonly string[]): number {
  const startedMs = performance.now();
  const copy = (more: readonly string[]) =>
    spawnSync('dd', [`if=${from}`, `of=${to}`, 'bs=4M', ...more], { stdio: 'ignore' });
  // Where the file system has no direct I/O, the copy is a buffered one.
  if (copy(flags).status !== 0) copy(flags.filter((flag) => flag.startsWith('conv')));
  return (performance.now() - startedMs) / 1000;
}
