// Benchmark of placement decisions on one thread: the whole filter chain with tags, three zones, two replicas of each
// volume placed already. A measured decision places and books; older bookings are released, so that the fleet stays as
// full as it is. Every request is a different one. The baseline is the balance score as the proposal defines it,
// evaluated for every candidate disk of one decision. Rates are per second of CPU time; the p50 and p99 of a decision
// are by the clock.

import v8 from 'node:v8';
import vm from 'node:vm';
import { afterPlacing, hybridScore } from '../../packages/core/dist/scheduling/balance-score.js';
import { buildFleetIndex } from '../../packages/core/dist/scheduling/index/fleet-index.js';
import { placeReplica } from '../../packages/core/dist/scheduling/place-replica.js';
import { GIB, makeDisk, makeNode, makeReplica, makeRequest, makeView, mulberry32, NOW } from './fleets.mjs';
import { percentile, report } from './report.mjs';

v8.setFlagsFromString('--expose_gc');
const collect = vm.runInNewContext('gc');

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

const CASES = [
  { disks: 1000, alpha: 1, capacities: 4, rate: 500_000, p99: 10 },
  { disks: 10_000, alpha: 1, capacities: 4, rate: 300_000, p99: 20 },
  { disks: 100_000, alpha: 1, capacities: 4, rate: 200_000, p99: 50 },
  { disks: 10_000, alpha: 0.5, capacities: 16, rate: 100_000 },
];

export async function run({ quick }) {
  for (const plan of CASES) measure(plan, quick);
}

function measure(plan, quick) {
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
  const limit = plan.p99 === undefined ? {} : { target: plan.p99, better: 'lower' };
  report({ ...row, metric: 'decision p99', value: percentile(times, 0.99) * 1000, unit: 'µs', ...limit });
  report({ ...row, metric: 'booking', value: load.bookingNs(rounds), unit: 'ns' });
  report({ ...row, metric: 'disk report', value: reportNs(index, view, rounds / 5), unit: 'ns' });
  report({ ...row, metric: 'memory', value: bytesPerDisk, unit: 'bytes/disk' });
  report({ ...row, metric: 'build from a view', value: buildMs, unit: 'ms' });
  if (plan.disks <= 10_000) reportLinear(row, view, makeBatch(), quick);
}

/** Reports the path that explains, for comparison: it looks at every disk. */
function reportLinear(row, view, requests, quick) {
  const rounds = quick ? 20 : 200;
  const ms = cpuMs(() => {
    for (let round = 0; round < rounds; round += 1) placeReplica(requests[round], view, NOW);
  });
  report({ ...row, metric: 'linear path', value: (rounds / ms) * 1000, unit: '/s' });
}

/** A load that places and books, and releases the oldest booking, each time with a different request. */
function makeLoad(index, makeBatch, bookingCount) {
  const bookedDisks = [];
  const bookedBytes = new Float64Array(bookingCount);
  let oldest = 0;
  const decide = ({ sizeBytes }, placement) => {
    if (placement.kind !== 'placed') throw new Error('the benchmark fleet has no room');
    index.book(placement.diskId, { sizeBytes, writtenBytes: 0 });
    bookedDisks[oldest] = placement.diskId;
    bookedBytes[oldest] = sizeBytes;
    oldest = (oldest + 1) % bookingCount;
  };
  const release = (booking) =>
    index.release(bookedDisks[booking], { sizeBytes: bookedBytes[booking], writtenBytes: 0 });
  const step = (request) => {
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
    run(rounds) {
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
    timedRun(rounds) {
      const times = new Float64Array(rounds);
      let batch = [];
      for (let round = 0; round < rounds; round += 1) {
        if (round % BATCH === 0) batch = makeBatch();
        const startedAt = performance.now();
        step(batch[round % BATCH]);
        times[round] = performance.now() - startedAt;
      }
      return times;
    },
    bookingNs(rounds) {
      const booking = { sizeBytes: GIB, writtenBytes: 0 };
      const ms = cpuMs(() => {
        for (let round = 0; round < rounds; round += 1) {
          const diskId = bookedDisks[(round * 7919) % bookingCount];
          index.book(diskId, booking);
          index.release(diskId, booking);
        }
      });
      return (ms * 1e6) / (2 * rounds);
    },
  };
}

/** Reports the cost of a heartbeat's news about one disk. */
function reportNs(index, view, rounds) {
  const disks = view.disks.map((disk) => ({
    ...disk,
    storageAvailableBytes: disk.storageAvailableBytes - GIB,
  }));
  const ms = cpuMs(() => {
    for (let round = 0; round < rounds; round += 1) index.putDisk(disks[(round * 7919) % disks.length]);
  });
  return (ms * 1e6) / rounds;
}

function buildMeasured(view, requests) {
  const before = usedBytes();
  let index;
  const buildMs = cpuMs(() => {
    index = buildFleetIndex(view);
    index.place(requests[0], NOW);
  });
  // The index builds its tournaments when a kind of request is first asked: all kinds, before the memory is counted.
  for (const request of requests) index.place(request, NOW);
  return { index, buildMs, bytesPerDisk: (usedBytes() - before) / view.disks.length };
}

function usedBytes() {
  // A second collection frees what the first one released: the fleet of the case before.
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Milliseconds of one decision by the definition: a sample of the candidates, scaled up to all of them. */
function quadraticMs(view, alpha) {
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
function cpuMs(work) {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** A fleet whose nodes have one kind of disk each, with two kinds of tags on nodes and on disks. */
function makeFleet({ disks: diskCount, alpha, capacities }) {
  const random = mulberry32(SEED);
  const nodes = [];
  const disks = [];
  for (let n = 0; n < diskCount / DISKS_PER_NODE; n += 1) {
    const nodeId = `node-${n}`;
    nodes.push(
      makeNode(nodeId, { zone: ZONES[n % ZONES.length], tags: n % 2 === 0 ? ['fast'] : ['fast', 'spare'] }),
    );
    const sizeBytes = (4000 + 500 * Math.floor(random() * capacities)) * GIB;
    for (let d = 0; d < DISKS_PER_NODE; d += 1) {
      const usedShare = 0.1 + 0.4 * random();
      disks.push(
        makeDisk(`disk-${n}-${d}`, nodeId, sizeBytes, {
          tags: d % 2 === 0 ? ['ssd'] : ['ssd', 'nvme'],
          storageAvailableBytes: Math.floor(sizeBytes * (1 - usedShare)),
          storageScheduledBytes: Math.floor(sizeBytes * usedShare),
          writtenBytes: Math.floor(sizeBytes * usedShare),
        }),
      );
    }
  }
  return makeView(nodes, disks, { 'balance-alpha': alpha });
}

/** A maker of batches. Each batch is new: sizes, selectors and the two placed replicas by chance. */
function requestMaker(view) {
  const random = mulberry32(SEED + 1);
  const pick = (items) => items[Math.floor(random() * items.length)];
  const zoneOf = new Map(view.nodes.map(({ id, zone }) => [id, zone]));
  const inZone = ZONES.map((zone) => view.disks.filter(({ nodeId }) => zoneOf.get(nodeId) === zone));
  const makeOne = (_, at) => {
    const sizeBytes = (10 + Math.floor(random() * 190)) * GIB;
    const replicas = [0, 1].map((step) =>
      makeReplica(`replica-${at}-${step}`, pick(inZone[(at + step) % ZONES.length]), sizeBytes),
    );
    return makeRequest(sizeBytes, {
      nodeSelector: [pick(['fast', 'fast', 'spare'])],
      diskSelector: pick([['ssd'], ['ssd'], ['nvme'], []]).slice(),
      replicas,
    });
  };
  return () => Array.from({ length: BATCH }, makeOne);
}
