// I/O through the engine with our own client, with one copy and with three.
import crypto from 'node:crypto';
import { BenchStack, MIB, report, rounded, timed } from './stack.mjs';

const quick = process.argv.includes('--quick');
const sizeBytes = 512 * MIB;
const scale = quick ? 0.2 : 1;

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

const stack = await BenchStack.start(3);
try {
  for (const copies of [1, 3]) {
    const { volumeId, client } = await stack.volume(sizeBytes, copies);
    for (const [name, length, depth, count, kind] of CASES) {
      const requests = Math.ceil(count * scale);
      const data = crypto.randomBytes(length);
      const places = sizeBytes / length;
      const random = length === 4096;
      const seconds = await timed(requests, depth, (i) => {
        const offset = (random ? crypto.randomInt(places) : i % places) * length;
        if (kind === 'read') return client.read(offset, length);
        return client.write(offset, [data], length, { fua: kind === 'fua' });
      });
      const perSecond = random ? requests / seconds : (requests * length) / 1e6 / seconds;
      report({
        bench: 'io',
        case: `${name}, ${copies} ${copies === 1 ? 'copy' : 'copies'}`,
        metric: random ? 'iops' : 'throughput',
        value: rounded(perSecond),
        unit: random ? 'IOPS' : 'MB/s',
      });
    }
    client.close();
    await stack.call(0, 'DELETE', `/v1/engines/${volumeId}?epoch=1`);
  }
  const megabytes = (await stack.residentBytes(0)) / 1e6;
  report({
    bench: 'io',
    case: 'agent with both host processes',
    metric: 'memory',
    value: rounded(megabytes),
    unit: 'MB',
  });
} finally {
  await stack.stop();
}
