/**
 * Probe for direct I/O: tests a disk with a real write and read from our buffers, because some file systems accept
 * the flag and refuse the transfer.
 */
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '../../base/system-error.js';
import { ALIGNMENT_BYTES, leaseAligned } from '../aligned-buffers.js';

const { O_CREAT, O_DIRECT, O_EXCL, O_RDWR } = fs.constants;

/** Results by device number of the file system; a process meets few. */
const known = new Map<number, Promise<boolean>>();

/**
 * Probes once per file system. If the disk is full or read-only now, support is assumed, and probed again next time.
 */
export async function supportsDirectIo(folder: string): Promise<boolean> {
  const { dev } = await fs.stat(folder);
  let answer = known.get(dev);
  if (answer === undefined) {
    answer = probe(folder);
    known.set(dev, answer);
    answer.catch(() => known.delete(dev));
  }
  return answer.catch(() => O_DIRECT !== undefined);
}

/** @throws the disk's error if it can't be written to at all */
async function probe(folder: string): Promise<boolean> {
  // Platforms other than Linux have no such flag.
  if (O_DIRECT === undefined) return false;
  const file = path.join(folder, `direct-io-${crypto.randomUUID()}.tmp`);
  try {
    await writeAndRead(file);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EINVAL' || code === 'EOPNOTSUPP') return false;
    throw error;
  } finally {
    await fs.rm(file, { force: true });
  }
}

async function writeAndRead(file: string): Promise<void> {
  const { buffer, release } = leaseAligned(ALIGNMENT_BYTES);
  const handle = await fs.open(file, O_CREAT | O_EXCL | O_RDWR | O_DIRECT, 0o600);
  try {
    await handle.write(buffer, 0, ALIGNMENT_BYTES, 0);
    await handle.read(buffer, 0, ALIGNMENT_BYTES, 0);
  } finally {
    await handle.close();
    release();
  }
}
