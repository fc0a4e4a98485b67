// One end of a bare comparison: it reads the files of one copy, past the page cache, hashes them by clusters of 64 KiB, and does nothing
// else. It begins when it is told to, and prints when it is done the seconds of processor time that it took since.
import { once } from 'node:events';
import fs from 'node:fs';
import { promisify } from 'node:util';
import { CLUSTER_BYTES, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { blake3Of } from '@holdfast/data-engine/base/blake3.js';
import { alignedBytes } from '@holdfast/data-engine/disk/aligned-buffers.js';

const read = promisify(fs.read);
const { O_DIRECT, O_RDONLY } = fs.constants;

/** As many windows as a copy reads at once where its clusters are hashed (`hash-answers.ts`). */
const READ_AT_ONCE = 4;

const places = process.argv.slice(2).flatMap((file) => {
  const fd = fs.openSync(file, O_RDONLY | O_DIRECT);
  const windows = Math.ceil(fs.fstatSync(fd).size / WINDOW_BYTES);
  return Array.from({ length: windows }, (_, window) => ({ fd, at: window * WINDOW_BYTES }));
});
const buffers = Array.from({ length: READ_AT_ONCE }, () => alignedBytes(WINDOW_BYTES));

console.log('ready');
await once(process.stdin, 'data');
const before = process.cpuUsage();
await Promise.all(buffers.map(readNext));
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1e6);
process.exit();

async function readNext(buffer: Buffer): Promise<void> {
  for (let place = places.shift(); place !== undefined; place = places.shift()) {
    const { bytesRead } = await read(place.fd, buffer, 0, WINDOW_BYTES, place.at);
    for (let at = 0; at < bytesRead; at += CLUSTER_BYTES)
      blake3Of([buffer.subarray(at, Math.min(at + CLUSTER_BYTES, bytesRead))]);
  }
}
