// I/O through the engine with our own client, with one copy and with three: real agents, without the control plane.
// `run` is called by the repository's `npm run bench`.
import crypto from 'node:crypto';
import { BenchStack, MIB, timed } from './stack.mjs';

const SIZE_BYTES = 512 * MIB;

/** Name, bytes of each request, requests in flight, requests in all, what each does. */
const CASES = [
  ['write 1 MiB qd4', MIB, 4, 400, 'write'],
  ['write 128 KiB qd8', 128 * 1024, 8, 2000, 'write'],
  ['read 1 MiB qd4', MIB, 4, 400, 'read'],
  ['read 128 KiB qd8', 128 * 1024, 8, 2000, 'read'],
  ['randwrite 4 KiB qd1', 4096, 1, 3000, 'write'],
  ['randwrite 4 KiB qd32', 4096, 32, 20000, 'write'],
  ['randread 4 KiB qd1', 4096, 1, 3000, 'read'],
  ['randread 4 KiB qd32', 4096, 32, 20000, 'read'],
  ['write 4 KiB FUA qd8', 4096, 8, 400, 'fua'],
];

/** @param {{quick: boolean, report: (figure: object) => void}} options */
export async function run({ quick, report }) {
  const stack = await BenchStack.start(3);
  try {
    for (const copies of [1, 3]) {
      const { volumeId, client } = await stack.volume(SIZE_BYTES, copies);
      for (const [name, ...shape] of CASES) {
        const figure = await measure(client, quick ? 0.2 : 1, shape);
        report({ bench: 'io', case: `${name}, ${copies} ${copies === 1 ? 'copy' : 'copies'}`, ...figure });
      }
      client.close();
      await stack.call(0, 'DELETE', `/v1/engines/${volumeId}?epoch=1`);
    }
    const value = (await stack.residentBytes(0)) / 1e6;
    report({ bench: 'io', case: 'agent and host processes', metric: 'memory', value, unit: 'MB' });
  } finally {
    await stack.stop();
  }
}

/** Small requests go to random places and are counted; large ones run through the device and are weighed. */
async function measure(client, scale, [length, depth, count, kind]) {
  const requests = Math.ceil(count * scale);
  const data = crypto.randomBytes(length);
  const places = SIZE_BYTES / length;
  const isSmall = length === 4096;
  const seconds = await timed(requests, depth, (i) => {
    const offset = (isSmall ? crypto.randomInt(places) : i % places) * length;
    if (kind === 'read') return client.read(offset, length);
    return client.write(offset, [data], length, { fua: kind === 'fua' });
  });
  return isSmall
    ? { metric: 'iops', value: requests / seconds, unit: 'IOPS' }
    : { metric: 'throughput', value: (requests * length) / 1e6 / seconds, unit: 'MB/s' };
}
