// Benchmark of placement decisions on one thread: the whole filter chain with tags, three zones, two replicas of each
// volume placed already. A measured decision places and books; older bookings are released, so that the fleet stays as
// full as it is. Every request is a different one. The baseline is the balance score as the proposal defines it,
// evaluated for every candidate disk of one decision. Rates are per second of CPU time; the p50 and p99 of a decision
// are by the clock.

import v8 from 'node:v8';
import vm from 'node:vm';
import { GIB } from '@holdfast/core/model/bytes.js';
import type { DiskId } from '@holdfast/core/model/ids.js';
import {
  buildFleetIndex,
  type FastPlacement,
  type FleetIndex,
} from '@holdfast/core/scheduling/index/fleet-index.js';
import { placeReplica } from '@holdfast/core/scheduling/placement/place-replica.js';
import { afterPlacing, hybridScore } from '@holdfast/core/scheduling/tiers/balance-score.js';
import type { Figure } from '@holdfast/data-engine/bench/figure.js';
import { aFleet, type DiskPart, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { Chance } from '@holdfast/testkit/random-fleet.js';
import { type Fleet, itemAt, makeReplica, makeRequest, NOW, type Request } from './fleets.js';
import { percentile, report } from './report.js';
import type { RunOptions } from './run-options.js';

v8.setFlagsFromString('--expose_gc');
const collect: NodeJS.GCFunction = vm.runInNewContext('gc');

const DISKS_PER_NODE = 4;
const ZONES = ['zone-a', 'zone-b', 'zone-c'];
const SEED = 20260101;
/**
 * Requests per batch. Batches are made outside the clock, so that a request is as new to the scheduler, and as warm in
 * the processor's cache, as one that has just come in.
 */
const BATCH = 512;
/** Bookings that stand at any time, per disk. */
const BOOKINGS_PER_DISK = 4;

type Plan = {
  readonly disks: number;
  readonly alpha: number;
  /** How many different sizes disks have. */
  readonly capacities: number;
  /** Decisions per second that are wanted. */
  readonly rate: number;
  /** Microseconds that 99 of 100 decisions may take. */
  readonly p99?: number;
};
/** A part of the figures of one case. */
type CaseRow = Pick<Figure, 'bench' | 'case'>;
type MakeBatch = () => Request[];

const CASES: readonly Plan[] = [
  { disks: 1000, alpha: 1, capacities: 4, rate: 500_000, p99: 10 },
  { disks: 10_000, alpha: 1, capacities: 4, rate: 300_000, p99: 20 },
  { disks: 100_000, alpha: 1, capacities: 4, rate: 200_000, p99: 50 },
  { disks: 10_000, alpha: 0.5, capacities: 16, rate: 100_000 },
];

export async function run({ quick }: RunOptions): Promise<void> {
  for (const plan of CASES) measure(plan, quick);
}

function measure(plan: Plan, quick: boolean): void {
  const name = `${plan.disks} disks, α=${plan.alpha}, ${plan.capacities} capacities`;
  const row = { bench: 'schedule', case: name };
  const view = makeFleet(plan);
  const makeBatch = requestMaker(view);
  const { index, bytesPerDisk, buildMs } = buildMeasured(view, makeBatch());
  const load = makeLoad(index, makeBatch, plan.disks * BOOKINGS_PER_DISK);

  const rounds = quick ? 50_000 : 500_000;
  load.run(rounds / 5);
  const perSecond = load.run(rounds);
  const times = load.timedRun(quick ? 20_000 : 200_000).sort();
  const baseline = 1000 / quadraticMs(view, plan.alpha);

  report({ ...row, metric: 'decisions', value: perSecond, unit: '/s', baseline, target: plan.rate });
  report({ ...row, metric: 'decision p50', value: percentile(times, 0.5) * 1000, unit: 'µs' });
  const limit = plan.p99 === undefined ? {} : { target: plan.p99, better: 'lower' as const };
  report({ ...row, metric: 'decision p99', value: percentile(times, 0.99) * 1000, unit: 'µs', ...limit });
  report({ ...row, metric: 'booking', value: load.bookingNs(rounds), unit: 'ns' });
  report({ ...row, metric: 'disk report', value: reportNs(index, view, rounds / 5), unit: 'ns' });
  report({ ...row, metric: 'memory', value: bytesPerDisk, unit: 'bytes/disk' });
  report({ ...row, metric: 'build from a view', value: buildMs, unit: 'ms' });
  if (plan.disks <= 10_000) reportLinear(row, view, makeBatch(), quick);
}

/** Reports the path that explains, for comparison: it looks at every disk. */
function reportLinear(row: CaseRow, view: Fleet, requests: readonly Request[], quick: boolean): void {
  const rounds = quick ? 20 : 200;
  const ms = cpuMs(() => {
    for (let round = 0; round < rounds; round += 1) placeReplica(itemAt(requests, round), view, NOW);
  });
  report({ ...row, metric: 'linear path', value: (rounds / ms) * 1000, unit: '/s' });
}

/** A load that places and books, and releases the oldest booking, each time with a different request. */
function makeLoad(index: FleetIndex, makeBatch: MakeBatch, bookingCount: number) {
  const bookedDisks: DiskId[] = [];
  const bookedBytes = new Float64Array(bookingCount);
  let oldest = 0;
  const decide = ({ sizeBytes }: Request, placement: FastPlacement) => {
    if (placement.kind !== 'placed') throw new Error('the benchmark fleet has no room');
    index.book(placement.diskId, { sizeBytes, writtenBytes: 0 });
    bookedDisks[oldest] = placement.diskId;
    bookedBytes[oldest] = sizeBytes;
    oldest = (oldest + 1) % bookingCount;
  };
  const release = (booking: number) => {
    const sizeBytes = itemAt(bookedBytes, booking);
    index.release(itemAt(bookedDisks, booking), { sizeBytes, writtenBytes: 0 });
  };
  const step = (request: Request) => {
    release(oldest);
    decide(request, index.place(request, NOW));
  };
  while (bookedDisks.length < bookingCount) {
    const batch = makeBatch().slice(0, bookingCount - bookedDisks.length);
    for (const request of batch) decide(request, index.place(request, NOW));
  }

  return {
    /**
     * Decisions with their bookings per second of this process's CPU time, without the releases that make room for
     * them.
     */
    run(rounds: number): number {
      let ms = 0;
      for (let done = 0; done < rounds; done += BATCH) {
        const batch = makeBatch();
        for (let back = 0; back < BATCH; back += 1) release((oldest + back) % bookingCount);
        // Garbage from making the requests is not the scheduler's to collect.
        collect({ type: 'minor' });
        ms += cpuMs(() => {
          for (const request of batch) decide(request, index.place(request, NOW));
        });
      }
      return (rounds / ms) * 1000;
    },
    timedRun(rounds: number): Float64Array {
      const times = new Float64Array(rounds);
      let batch: Request[] = [];
      for (let round = 0; round < rounds; round += 1) {
        if (round % BATCH === 0) batch = makeBatch();
        const request = itemAt(batch, round % BATCH);
        const startedAt = performance.now();
        step(request);
        times[round] = performance.now() - startedAt;
      }
      return times;
    },
    bookingNs(rounds: number): number {
      const booking = { sizeBytes: GIB, writtenBytes: 0 };
      const ms = cpuMs(() => {
        for (let round = 0; round < rounds; round += 1) {
          const diskId = itemAt(bookedDisks, (round * 7919) % bookingCount);
          index.book(diskId, booking);
          index.release(diskId, booking);
        }
      });
      return (ms * 1e6) / (2 * rounds);
    },
  };
}

/** Reports the cost of a heartbeat's news about one disk. */
function reportNs(index: FleetIndex, view: Fleet, rounds: number): number {
  const disks = view.disks.map((disk) => ({
    ...disk,
    storageAvailableBytes: disk.storageAvailableBytes - GIB,
  }));
  const ms = cpuMs(() => {
    for (let round = 0; round < rounds; round += 1)
      index.putDisk(itemAt(disks, (round * 7919) % disks.length));
  });
  return (ms * 1e6) / rounds;
}

function buildMeasured(
  view: Fleet,
  requests: readonly Request[],
): { index: FleetIndex; buildMs: number; bytesPerDisk: number } {
  const before = usedBytes();
  const build = () => {
    const built = buildFleetIndex(view);
    built.place(itemAt(requests, 0), NOW);
    return built;
  };
  const { ms: buildMs, result: index } = cpuTimed(build);
  // The index builds its tournaments when a kind of request is first asked: all kinds, before the memory is counted.
  for (const request of requests) index.place(request, NOW);
  return { index, buildMs, bytesPerDisk: (usedBytes() - before) / view.disks.length };
}

function usedBytes(): number {
  // A second collection frees what the first one released: the fleet of the case before.
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Milliseconds of one decision by the definition: a sample of the candidates, scaled up to all of them. */
function quadraticMs(view: Fleet, alpha: number): number {
  const values = view.disks.map((disk) => ({
    usableBytes: disk.storageAvailableBytes,
    totalBytes: disk.storageMaximumBytes,
  }));
  const sample = Math.max(4, Math.min(values.length, Math.floor(500_000 / values.length)));
  let lowest = Number.POSITIVE_INFINITY;
  const ms = cpuMs(() => {
    for (let index = 0; index < sample; index += 1) {
      lowest = Math.min(lowest, hybridScore(afterPlacing(values, index, 100 * GIB), alpha));
    }
  });
  return (ms * values.length) / sample;
}

/**
 * CPU time of the whole process in milliseconds, garbage collector included. The wall clock would depend on how busy
 * others keep the machine.
 */
function cpuTimed<T>(work: () => T): { ms: number; result: T } {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1000, result };
}

function cpuMs(work: () => void): number {
  return cpuTimed(work).ms;
}

/** A fleet whose nodes have one kind of disk each, with two kinds of tags on nodes and on disks. */
function makeFleet({ disks: diskCount, alpha, capacities }: Plan): Fleet {
  const random = new Chance(SEED);
  const nodes: Record<string, NodePart> = {};
  for (let n = 0; n < diskCount / DISKS_PER_NODE; n += 1) {
    const bytes = (4000 + 500 * random.below(capacities)) * GIB;
    const disks: Record<string, DiskPart> = {};
    for (let d = 0; d < DISKS_PER_NODE; d += 1) {
      const usedShare = 0.1 + 0.4 * random.next();
      disks[`disk-${n}-${d}`] = {
        bytes,
        tags: d % 2 === 0 ? ['ssd'] : ['ssd', 'nvme'],
        storageAvailableBytes: Math.floor(bytes * (1 - usedShare)),
        storageScheduledBytes: Math.floor(bytes * usedShare),
        writtenBytes: Math.floor(bytes * usedShare),
      };
    }
    const tags = n % 2 === 0 ? ['fast'] : ['fast', 'spare'];
    nodes[`node-${n}`] = { zone: itemAt(ZONES, n % ZONES.length), tags, disks };
  }
  return aFleet(nodes, { 'balance-alpha': alpha });
}

/** A maker of batches. Each batch is new: sizes, selectors and the two placed replicas by chance. */
function requestMaker(view: Fleet): MakeBatch {
  const random = new Chance(SEED + 1);
  const pick = <T>(items: readonly T[]): T => itemAt(items, random.below(items.length));
  const zoneOf = new Map(view.nodes.map(({ id, zone }) => [id, zone]));
  const inZone = ZONES.map((zone) => view.disks.filter(({ nodeId }) => zoneOf.get(nodeId) === zone));
  const makeOne = (_: unknown, at: number) => {
    const sizeBytes = (10 + random.below(190)) * GIB;
    const replicas = [0, 1].map((step) =>
      makeReplica(`replica-${at}-${step}`, pick(itemAt(inZone, (at + step) % ZONES.length)), sizeBytes),
    );
    return makeRequest(sizeBytes, {
      nodeSelector: [pick(['fast', 'fast', 'spare'])],
      diskSelector: pick([['ssd'], ['ssd'], ['nvme'], []]).slice(),
      replicas,
    });
  };
  return () => Array.from({ length: BATCH }, makeOne);
}
