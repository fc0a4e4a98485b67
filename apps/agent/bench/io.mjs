// Benchmark of I/O through the engine, on three copies and on one: real agents and Holdfast's NBD client, without the
// control plane. The baseline of each row is nbdkit's file plugin on a plain file of the same disk, driven by the same
// client; both are measured in turn, and the medians count. `run` is called by the repository's `npm run bench`.
//
// Both sides keep what was read in the kernel's page cache. Before reads are measured, all of the device is read once,
// on both sides; the cold rows drop it from memory on both sides instead.
import { execFileSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Nbdkit } from './nbdkit.mjs';
import { BenchStack, KIB, MIB, timed } from './stack.mjs';

const SIZE_BYTES = 512 * MIB;
const ROUNDS = 3;

/**
 * Cases: bytes of each request, requests in flight, requests in all, kind of request. Targets are for three copies:
 * `ratio` of the baseline, or `value` in the row's unit. `longhorn` was measured elsewhere, for orientation.
 */
const CASES = [
  { name: 'randwrite 4 KiB qd32', shape: [4 * KIB, 32, 20_000, 'write'], ratio: 0.32, longhorn: '0.15 ×' },
  { name: 'randread 4 KiB qd32', shape: [4 * KIB, 32, 20_000, 'read'], ratio: 0.5, longhorn: '0.34 ×' },
  { name: 'randread 4 KiB qd32, cold', shape: [4 * KIB, 32, 20_000, 'cold-read'] },
  {
    name: 'write 1 MiB qd4',
    shape: [MIB, 4, 600, 'write'],
    ratio: 0.5,
    besideThree: true,
    longhorn: '426 MB/s',
  },
  { name: 'read 1 MiB qd4', shape: [MIB, 4, 600, 'read'], ratio: 0.45, longhorn: '450 MB/s' },
  { name: 'read 1 MiB qd4, cold', shape: [MIB, 4, 600, 'cold-read'] },
  { name: 'write 128 KiB qd8', shape: [128 * KIB, 8, 3000, 'write'], value: 230, longhorn: '136 MB/s' },
  { name: 'read 128 KiB qd8', shape: [128 * KIB, 8, 3000, 'read'], value: 550, longhorn: '308 MB/s' },
  { name: 'randwrite 4 KiB qd1', shape: [4 * KIB, 1, 4000, 'write'], p50: 400, longhorn: '372 µs' },
  { name: 'randread 4 KiB qd1', shape: [4 * KIB, 1, 4000, 'read'] },
  { name: 'randwrite 4 KiB FUA qd8', shape: [4 * KIB, 8, 2000, 'fua'] },
];

/** @param {{quick: boolean, report: (figure: object) => void}} options */
export async function run({ quick, report }) {
  const stack = await BenchStack.start(3);
  const servers = [];
  for (let i = 0; i < 3; i += 1) servers.push(await Nbdkit.start(stack.folder, SIZE_BYTES, `plain-${i}.img`));
  const nbdkits = servers.filter((server) => server !== undefined);
  if (nbdkits.length === 0)
    report({ bench: 'io', case: 'baseline: nbdkit is not installed', metric: 'missing', value: 1, unit: '' });
  try {
    const clients = [];
    for (const nbdkit of nbdkits) clients.push(await nbdkit.connect());
    const plain = clients[0] && { client: clients[0], files: [nbdkits[0].file] };
    const scale = quick ? 0.3 : 1;
    if (plain !== undefined) await fill(plain.client);
    for (const copies of [3, 1]) {
      const volume = await stack.volume(SIZE_BYTES, copies);
      await fill(volume.client);
      const ours = { client: volume.client, files: stack.agents.flatMap(({ disk }) => imagesIn(disk)) };
      for (const one of CASES) {
        const results = await interleaved(one.shape, scale, ours, plain);
        for (const figure of figures(one, copies, results.ours, results.theirs))
          report({ bench: 'io', ...figure });
        if (one.besideThree && copies === 3 && plain !== undefined)
          for (const figure of besideThree(one, results.ours, await threeFiles(clients, scale, one.shape)))
            report({ bench: 'io', ...figure });
      }
      await stack.detach(volume);
    }
    for (const client of clients) client.close();
  } finally {
    for (const nbdkit of nbdkits) await nbdkit.stop();
    await stack.stop();
  }
}

/**
 * Rate of three plain NBD servers that one client feeds with the same writes: the most that three copies on this one
 * machine can reach (ADR 0114).
 */
async function threeFiles(clients, scale, shape) {
  const all = (ask) => Promise.all(clients.map(ask));
  const three = {
    write: (...args) => all((client) => client.write(...args)),
    flush: () => all((client) => client.flush()),
  };
  await fill(three);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push(await measure({ client: three, files: [] }, scale, shape));
  return medians(rounds);
}

/** Rows that compare three copies with three plain files, before and after the flush. */
function* besideThree({ name, shape: [length] }, ours, theirs) {
  for (const [key, ending] of [
    ['perSecond', ''],
    ['flushedPerSecond', ', flushed'],
  ]) {
    yield {
      case: `${name}, 3 copies beside three plain files at once${ending}`,
      metric: 'throughput',
      unit: 'MB/s',
      value: (ours[key] * length) / 1e6,
      baseline: (theirs[key] * length) / 1e6,
      ratioTarget: 0.5,
    };
  }
}

/** Files with data below a folder. */
function imagesIn(folder) {
  const names = fs.readdirSync(folder, { recursive: true });
  return names.filter((name) => name.endsWith('.img')).map((name) => path.join(folder, name));
}

/** Writes all of the device first: reading what was never written, or growing a file, would be another case. */
async function fill(client) {
  const data = crypto.randomBytes(MIB);
  await timed(SIZE_BYTES / MIB, 4, (i) => client.write(i * MIB, [data], MIB, { fua: false }));
  await client.flush();
}

async function readAll(client) {
  await timed(SIZE_BYTES / (128 * KIB), 8, (i) => client.read(i * 128 * KIB, 128 * KIB));
}

/** Drops the files' pages from the kernel's page cache. They must have been flushed. */
function forget(files) {
  const nothing = ['oflag=nocache', 'conv=notrunc,fdatasync', 'count=0', 'status=none'];
  for (const file of files) execFileSync('dd', [`of=${file}`, ...nothing]);
}

async function interleaved(shape, scale, mine, plain) {
  const ours = [];
  const theirs = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    if (plain !== undefined) theirs.push(await measure(plain, scale, shape));
    ours.push(await measure(mine, scale, shape));
  }
  return { ours: medians(ours), theirs: theirs.length === 0 ? undefined : medians(theirs) };
}

/**
 * Measures one case. Small requests go to random places and are counted; large ones run through the device and count in
 * bytes.
 */
async function measure({ client, files }, scale, [length, depth, count, kind]) {
  const isRead = kind === 'read' || kind === 'cold-read';
  if (kind === 'cold-read') forget(files);
  else if (isRead) await readAll(client);
  const requests = Math.ceil(count * scale);
  const data = crypto.randomBytes(length);
  const places = SIZE_BYTES / length;
  const offsets = Array.from(
    { length: requests },
    (_, i) => (length === 4 * KIB ? crypto.randomInt(places) : i % places) * length,
  );
  const ask = (i) => {
    if (isRead) return client.read(offsets[i], length);
    return client.write(offsets[i], [data], length, { fua: kind === 'fua' });
  };
  // A warm-up: the other side had the processor until now, and the latency meant is that of a device in use.
  if (depth === 1) await timed(requests >> 1, depth, ask);
  const latenciesMs = [];
  const seconds = await timed(requests, depth, async (i) => {
    const startedMs = performance.now();
    await ask(i);
    latenciesMs.push(performance.now() - startedMs);
  });
  // Flushed before the next measurement, so that neither side pays for the other's writes.
  const flushSeconds = await timed(1, 1, () => client.flush());
  latenciesMs.sort((a, b) => a - b);
  return {
    perSecond: requests / seconds,
    flushedPerSecond: requests / (seconds + flushSeconds),
    p50Us: latenciesMs[latenciesMs.length >> 1] * 1000,
  };
}

function medians(rounds) {
  const median = (key) => rounds.map((round) => round[key]).sort((a, b) => a - b)[rounds.length >> 1];
  return {
    perSecond: median('perSecond'),
    flushedPerSecond: median('flushedPerSecond'),
    p50Us: median('p50Us'),
  };
}

/** Rows of one case. Targets are for three copies; only the latency's is for both. */
function* figures({ name, shape, ratio, value, p50, longhorn }, copies, ours, theirs) {
  const [length, depth, , kind] = shape;
  const isSmall = length === 4 * KIB;
  const scale = isSmall ? 1 : length / 1e6;
  const goals = copies === 3 ? { ratioTarget: ratio, target: value, longhorn } : {};
  const common = { case: `${name}, ${copies} ${copies === 1 ? 'copy' : 'copies'}` };
  yield {
    ...common,
    metric: isSmall ? 'iops' : 'throughput',
    unit: isSmall ? 'IOPS' : 'MB/s',
    value: ours.perSecond * scale,
    baseline: theirs && theirs.perSecond * scale,
    ...(p50 === undefined ? goals : {}),
  };
  // A server with a page cache answers before the disk has the data: only the flush that ends the stream compares
  // disks.
  if (!isSmall && kind === 'write') {
    yield {
      ...common,
      case: `${common.case}, flushed`,
      metric: 'throughput',
      unit: 'MB/s',
      value: ours.flushedPerSecond * scale,
      baseline: theirs && theirs.flushedPerSecond * scale,
      ...goals,
    };
  }
  if (depth > 1) return;
  yield {
    ...common,
    metric: 'p50',
    unit: 'µs',
    value: ours.p50Us,
    baseline: theirs?.p50Us,
    better: 'lower',
    target: p50,
    longhorn: p50 && longhorn,
  };
}
