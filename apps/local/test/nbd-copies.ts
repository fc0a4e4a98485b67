/** Whole images into a volume and out of it: with libnbd's own tool where it is installed, else with the repository's client. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { MIB } from '@holdfast/core/model/bytes.js';
import { hasPrograms } from '@holdfast/testkit/nbd-tools.js';
import { connectNbd } from '@holdfast/testkit/nbd-workload.js';

const run = promisify(execFile);

/** @param folder for the tool's file */
export async function copyIn(folder: string, bytes: Buffer, uri: string): Promise<void> {
  if (hasPrograms('nbdcopy')) {
    const file = path.join(folder, 'in.img');
    fs.writeFileSync(file, bytes);
    await run('nbdcopy', ['--flush', file, uri]);
    return;
  }
  const client = await connectNbd(uri);
  for (let offset = 0; offset < bytes.length; offset += MIB) {
    const part = bytes.subarray(offset, offset + MIB);
    await client.write(offset, [part], part.length, { fua: false });
  }
  await client.flush();
  client.close();
}

/** The first bytes of a volume. */
export async function copyOut(folder: string, uri: string, lengthBytes: number): Promise<Buffer> {
  if (hasPrograms('nbdcopy')) {
    const file = path.join(folder, 'out.img');
    await run('nbdcopy', [uri, file]);
    return fs.readFileSync(file).subarray(0, lengthBytes);
  }
  const client = await connectNbd(uri);
  const parts: Buffer[] = [];
  for (let offset = 0; offset < lengthBytes; offset += MIB) {
    parts.push(...(await client.read(offset, Math.min(MIB, lengthBytes - offset))));
  }
  client.close();
  return Buffer.concat(parts);
}
