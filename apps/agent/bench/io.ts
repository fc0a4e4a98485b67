// Benchmark of I/O through the engine, on three copies and on one: real agents and Holdfast's NBD client, without the
// control plane. The baseline of each row is nbdkit's file plugin on a plain file of the same disk, driven by the same
// client, and beside that, for writes to three copies, three such files that are written at once. All are measured in
// turn, and the medians count. Small writes have a fourth side, the bare loop (bare-loop.ts), which shows what this machine can give
// in Node. `run` is called by the repository's `npm run bench`.
//
// All sides keep what was read in the kernel's page cache. Before reads are measured, all of the device is read once,
// on all sides; the cold rows, and writes, drop it from memory on all sides instead.
import { execFileSync } from 'node:child_process';
import crypto from 'node:crypto';
import type { BenchOptions, Figure } from '@holdfast/data-engine/bench/figure.js';
import { median } from '@holdfast/data-engine/bench/median.js';
import type { NbdClient } from '@holdfast/data-engine/nbd/client.js';
import { BareLoop } from './bare-loop.js';
import { Nbdkit } from './nbdkit.js';
import { BenchStack, KIB, MIB, timed } from './stack.js';

const SIZE_BYTES = 512 * MIB;
const ROUNDS = 5;
const BARE = 'a bare loop of the same calls';

/** Bytes of each request, requests in flight, requests in all, kind of request. */
type Shape = readonly [
  length: number,
  depth: number,
  count: number,
  kind: 'read' | 'cold-read' | 'write' | 'fua',
];

/** Targets of three copies, unless they say otherwise: shares of what plain files do in the same run (docs/design/tests.md). */
type Case = {
  readonly name: string;
  readonly shape: Shape;
  /** Share of the rate of one plain file. */
  readonly ofOne?: number;
  /** The same for one copy. */
  readonly ofOneWithOneCopy?: number;
  /** Share of the rate of three plain files that are written at once. */
  readonly ofThree?: number;
  /** The middle latency, as a multiple of that of one plain file. */
  readonly p50OfOne?: number;
  /** Three copies are measured beside the bare loop too. */
  readonly besideBare?: boolean;
  /** Measured elsewhere, for orientation. */
  readonly longhorn?: string;
};

type Rates = { readonly perSecond: number; readonly flushedPerSecond: number; readonly p50Us: number };
type Client = Pick<NbdClient, 'read' | 'write' | 'flush'>;
type CaseFigure = Omit<Figure, 'bench'>;
/** A device to measure, and the files that hold its data. */
type Device = { readonly client: Client; readonly files: readonly string[] };
/** What is measured in turn: the volume, one plain file, three of them at once, and the bare loop. */
type Sides<T> = {
  readonly ours: T;
  readonly one?: T | undefined;
  readonly three?: T | undefined;
  readonly bare?: T | undefined;
};

const CASES: readonly Case[] = [
  {
    name: 'randwrite 4 KiB qd1',
    shape: [4 * KIB, 1, 4000, 'write'],
    ofThree: 0.45,
    ofOneWithOneCopy: 0.55,
    // 300 µs where one plain file takes 90.
    p50OfOne: 300 / 90,
    besideBare: true,
    longhorn: '372 µs',
  },
  {
    name: 'randwrite 4 KiB qd32',
    shape: [4 * KIB, 32, 20_000, 'write'],
    ofThree: 0.8,
    ofOne: 0.42,
    besideBare: true,
    longhorn: '0.15 ×',
  },
  { name: 'randread 4 KiB qd1', shape: [4 * KIB, 1, 4000, 'read'], ofOne: 0.45 },
  { name: 'randread 4 KiB qd1, cold', shape: [4 * KIB, 1, 4000, 'cold-read'], ofOne: 0.5 },
  { name: 'randread 4 KiB qd32', shape: [4 * KIB, 32, 20_000, 'read'], ofOne: 0.65, longhorn: '0.34 ×' },
  { name: 'randread 4 KiB qd32, cold', shape: [4 * KIB, 32, 20_000, 'cold-read'], ofOne: 0.6 },
  {
    name: 'write 128 KiB qd8',
    shape: [128 * KIB, 8, 3000, 'write'],
    ofThree: 0.6,
    besideBare: true,
    longhorn: '136 MB/s',
  },
  { name: 'read 128 KiB qd8', shape: [128 * KIB, 8, 3000, 'read'], ofOne: 0.65, longhorn: '308 MB/s' },
  // The target is for the rate with its flush: before that, plain files have copied into the page cache only.
  {
    name: 'write 1 MiB qd4',
    shape: [MIB, 4, 600, 'write'],
    ofThree: 0.95,
    besideBare: true,
    longhorn: '426 MB/s',
  },
  { name: 'read 1 MiB qd4', shape: [MIB, 4, 600, 'read'], ofOne: 0.7, longhorn: '450 MB/s' },
  { name: 'read 1 MiB qd4, cold', shape: [MIB, 4, 600, 'cold-read'] },
  { name: 'randwrite 4 KiB FUA qd8', shape: [4 * KIB, 8, 2000, 'fua'] },
];

export async function run({ quick, report }: BenchOptions): Promise<void> {
  const stack = await BenchStack.start(3);
  const bare = await BareLoop.start(stack.folder, SIZE_BYTES);
  const nbdkits: Nbdkit[] = [];
  for (let i = 0; i < 3; i += 1) {
    const server = await Nbdkit.start(stack.folder, SIZE_BYTES, `plain-${i}.img`);
    if (server !== undefined) nbdkits.push(server);
  }
  if (nbdkits.length === 0)
    report({ bench: 'io', case: 'baseline: nbdkit is not installed', metric: 'missing', value: 1, unit: '' });
  try {
    const plains: { client: NbdClient; files: string[] }[] = [];
    for (const nbdkit of nbdkits) plains.push({ client: await nbdkit.connect(), files: [nbdkit.file] });
    const clients = plains.map(({ client }) => client);
    const [plain] = plains;
    const scale = quick ? 0.3 : 1;
    const three = plains.length === 3 ? { client: atOnce(clients), files: [] } : undefined;
    if (three !== undefined) await fill(three.client);
    else if (plain !== undefined) await fill(plain.client);
    await fill(bare.client);
    for (const copies of [3, 1]) {
      const volume = await stack.volume(SIZE_BYTES, copies);
      await fill(volume.client);
      const files = await Promise.all(stack.agents.map((_, agent) => stack.imagesOf(agent)));
      const ours = { client: volume.client, files: files.flat() };
      for (const one of CASES) {
        const isWritten = one.shape[3] === 'write' || one.shape[3] === 'fua';
        const sides = {
          ours,
          one: plain,
          three: isWritten && copies === 3 ? three : undefined,
          bare: one.besideBare && copies === 3 ? bare : undefined,
        };
        // All begin with nothing in the page cache: how pages came there decides what a write to them costs.
        if (isWritten) forget([...ours.files, ...nbdkits.map(({ file }) => file), ...bare.files]);
        for (const figure of figures(one, copies, await interleaved(one.shape, scale, sides)))
          report({ bench: 'io', ...figure });
      }
      await stack.detach(volume);
    }
    for (const client of clients) client.close();
  } finally {
    bare.stop();
    for (const nbdkit of nbdkits) await nbdkit.stop();
    await stack.stop();
  }
}

/** Plain NBD servers that one client feeds with the same writes: the most that three copies on one machine can reach. */
function atOnce(clients: readonly Client[]): Client {
  const all = async (ask: (client: Client) => Promise<void>) => {
    await Promise.all(clients.map(ask));
  };
  return {
    read: () => Promise.reject(new Error('three files are only written')),
    write: (...args) => all((client) => client.write(...args)),
    flush: () => all((client) => client.flush()),
  };
}

/** Writes all of the device first: reading what was never written, or growing a file, would be another case. */
async function fill(client: Client): Promise<void> {
  const data = crypto.randomBytes(MIB);
  await timed(SIZE_BYTES / MIB, 4, (i) => client.write(i * MIB, [data], MIB, { fua: false }));
  await client.flush();
}

async function readAll(client: Client): Promise<void> {
  await timed(SIZE_BYTES / (128 * KIB), 8, (i) => client.read(i * 128 * KIB, 128 * KIB));
}

/** Drops the files' pages from the kernel's page cache. They must have been flushed. */
function forget(files: readonly string[]): void {
  const nothing = ['oflag=nocache', 'conv=notrunc,fdatasync', 'count=0', 'status=none'];
  for (const file of files) execFileSync('dd', [`of=${file}`, ...nothing]);
}

/** Measures the sides in turn, and takes the median of each. */
async function interleaved(shape: Shape, scale: number, sides: Sides<Device>): Promise<Sides<Rates>> {
  const rounds: Sides<Rates>[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({
      one: sides.one && (await measure(sides.one, scale, shape)),
      three: sides.three && (await measure(sides.three, scale, shape)),
      bare: sides.bare && (await measure(sides.bare, scale, shape)),
      ours: await measure(sides.ours, scale, shape),
    });
  }
  return {
    ours: medians(rounds.map(({ ours }) => ours)),
    one: sides.one && medians(rounds.flatMap(({ one }) => one ?? [])),
    three: sides.three && medians(rounds.flatMap(({ three }) => three ?? [])),
    bare: sides.bare && medians(rounds.flatMap(({ bare }) => bare ?? [])),
  };
}

/**
 * Measures one case. Small requests go to random places and are counted; large ones run through the device and count in
 * bytes.
 */
async function measure(
  { client, files }: Device,
  scale: number,
  [length, depth, count, kind]: Shape,
): Promise<Rates> {
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
  const ask = async (i: number): Promise<void> => {
    const offset = offsets[i];
    if (offset === undefined) throw new Error(`there is no request ${i}`);
    if (isRead) await client.read(offset, length);
    else await client.write(offset, [data], length, { fua: kind === 'fua' });
  };
  // A warm-up: the other side had the processor until now, and the latency meant is that of a device in use.
  if (depth === 1) await timed(requests >> 1, depth, ask);
  const latenciesMs: number[] = [];
  const seconds = await timed(requests, depth, async (i) => {
    const startedMs = performance.now();
    await ask(i);
    latenciesMs.push(performance.now() - startedMs);
  });
  // Flushed before the next measurement, so that neither side pays for the other's writes.
  const flushSeconds = await timed(1, 1, () => client.flush());
  return {
    perSecond: requests / seconds,
    flushedPerSecond: requests / (seconds + flushSeconds),
    p50Us: median(latenciesMs) * 1000,
  };
}

function medians(rounds: readonly Rates[]): Rates {
  const middle = (key: keyof Rates) => median(rounds.map((round) => round[key]));
  return {
    perSecond: middle('perSecond'),
    flushedPerSecond: middle('flushedPerSecond'),
    p50Us: middle('p50Us'),
  };
}

/** Rows of one case. */
function* figures(
  { name, shape, ofOne, ofOneWithOneCopy, ofThree, p50OfOne, longhorn }: Case,
  copies: number,
  { ours, one, three, bare }: Sides<Rates>,
): Generator<CaseFigure> {
  const [length, depth, , kind] = shape;
  const isSmall = length === 4 * KIB;
  const scale = isSmall ? 1 : length / 1e6;
  const unit = isSmall ? { metric: 'iops', unit: 'IOPS' } : { metric: 'throughput', unit: 'MB/s' };
  const called = `${name}, ${copies} ${copies === 1 ? 'copy' : 'copies'}`;
  // A server with a page cache answers before the disk has the data: only the flush that ends the stream compares
  // disks.
  const isFlushed = !isSmall && kind === 'write';
  for (const key of isFlushed ? (['perSecond', 'flushedPerSecond'] as const) : (['perSecond'] as const)) {
    const ending = key === 'perSecond' ? '' : ', flushed';
    const value = ours[key] * scale;
    yield {
      ...unit,
      case: `${called}${ending}`,
      value,
      baseline: one && one[key] * scale,
      ratioTarget: copies === 3 ? ofOne : ofOneWithOneCopy,
      longhorn: copies === 3 && depth > 1 ? longhorn : undefined,
    };
    const isMeant = length < MIB || key === 'flushedPerSecond';
    const others = [
      { beside: 'three plain files at once', rates: three, ratioTarget: isMeant ? ofThree : undefined },
      { beside: BARE, rates: bare },
    ];
    for (const { beside, rates, ratioTarget } of others) {
      if (rates === undefined) continue;
      const baseline = rates[key] * scale;
      yield { ...unit, case: `${called}${ending}, beside ${beside}`, value, baseline, ratioTarget };
    }
    if (bare === undefined || three === undefined) continue;
    // What a target beside three plain files can be at most on this machine.
    const most = { value: bare[key] * scale, baseline: three[key] * scale };
    yield { ...unit, ...most, case: `${called}${ending}: ${BARE}, beside three plain files at once` };
  }
  if (depth > 1) return;
  const p50 = { metric: 'p50', unit: 'µs', better: 'lower' } as const;
  yield {
    ...p50,
    case: called,
    value: ours.p50Us,
    baseline: one?.p50Us,
    ratioTarget: copies === 3 ? p50OfOne : undefined,
    longhorn: copies === 3 ? longhorn : undefined,
  };
  if (bare === undefined) return;
  yield { ...p50, case: `${called}, beside ${BARE}`, value: ours.p50Us, baseline: bare.p50Us };
}
