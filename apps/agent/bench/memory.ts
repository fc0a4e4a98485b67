// Benchmark of memory: of an agent with its host processes and many idle volumes, and of a written volume's map.
import crypto from 'node:crypto';
import type { BenchOptions, Figure, Report } from '@holdfast/data-engine/bench/figure.js';
import { BenchStack, KIB, MIB, timed } from './stack.js';

const GIB = 1024 * MIB;
const VOLUMES = 50;
const COPIES = 4;
const IDLE_MS = 5_000;
const NODES = 3;
/** Bytes of each request, requests in flight, requests in all. */
const LOADS = [
  [4 * KIB, 32, 60_000],
  [128 * KIB, 8, 6_000],
  [MIB, 4, 1_500],
] as const;
/** A look costs some milliseconds of the kernel's time for each process. */
const LOOK_MS = 250;
/** Distance between writes: one for each page of the map, so that every page of it exists. */
const PAGE_COVERS_BYTES = 126 * MIB;

export async function run({ report }: Pick<BenchOptions, 'report'>): Promise<void> {
  await underLoad(report);
  await idle(report);
  await mapOfOneTebibyte(report);
}

/** One volume, three copies on three nodes, as it is written and read in small and in large blocks for a while. */
async function underLoad(report: Report): Promise<void> {
  const sizeBytes = 512 * MIB;
  const stack = await BenchStack.start(NODES);
  try {
    const { client } = await stack.volume(sizeBytes, NODES);
    const peaks = new PeakMemory(stack);
    for (const [lengthBytes, depth, count] of LOADS) {
      const data = crypto.randomBytes(lengthBytes);
      const place = () => crypto.randomInt(sizeBytes / lengthBytes) * lengthBytes;
      await peaks.during(
        timed(count, depth, () => client.write(place(), [data], lengthBytes, { fua: false })),
      );
      await peaks.during(client.flush());
      const read = async () => (await client.read(place(), lengthBytes)).release?.();
      await peaks.during(timed(count, depth, read));
    }
    client.close();
    const name = 'one volume of three copies on three nodes, at its highest under load';
    report({ ...row(name, peaks.totalBytes), target: 600, better: 'lower' });
    for (const [program, bytes] of peaks.byProgram)
      report({ ...row(`${name}: ${program}`, bytes), metric: 'PSS, the largest of its kind' });
  } finally {
    await stack.stop();
  }
}

class PeakMemory {
  totalBytes = 0;
  /** The most that a process of each program took. */
  readonly byProgram = new Map<string, number>();

  constructor(private readonly stack: BenchStack) {}

  /** Looks again and again until the work has ended. */
  async during(work: Promise<unknown>): Promise<void> {
    let isRunning = true;
    const ended = work.finally(() => {
      isRunning = false;
    });
    while (isRunning) {
      await this.look();
      await pause(LOOK_MS);
    }
    await ended;
  }

  private async look(): Promise<void> {
    const looks = Array.from({ length: NODES }, (_, index) => this.stack.residentBytesEach(index));
    const processes = (await Promise.all(looks)).flat();
    this.totalBytes = Math.max(
      this.totalBytes,
      processes.reduce((sum, { bytes }) => sum + bytes, 0),
    );
    for (const { program, bytes } of processes)
      this.byProgram.set(program, Math.max(bytes, this.byProgram.get(program) ?? 0));
  }
}

async function idle(report: Report): Promise<void> {
  const stack = await BenchStack.start(1);
  try {
    report(row('an agent alone', await stack.residentBytes(0)));
    const clients = [];
    for (let count = 0; count < VOLUMES; count += 1)
      clients.push((await stack.volume(10 * GIB, COPIES, () => 0)).client);
    for (const client of clients) {
      await client.write(0, [crypto.randomBytes(4 * KIB)], 4 * KIB, { fua: true });
      client.close();
    }
    await pause(IDLE_MS);
    const name = `an agent with ${VOLUMES * COPIES} idle replicas and ${VOLUMES} idle engines`;
    report({ ...row(name, await stack.residentBytes(0)), target: 1000, better: 'lower' });
  } finally {
    await stack.stop();
  }
}

async function mapOfOneTebibyte(report: Report): Promise<void> {
  const sizeBytes = 1024 * GIB;
  const stack = await BenchStack.start(1);
  try {
    const { client } = await stack.volume(sizeBytes, 1);
    const block = crypto.randomBytes(4 * KIB);
    const writeEvery = async (strideBytes: number) => {
      await timed(Math.floor(sizeBytes / PAGE_COVERS_BYTES), 8, (i) =>
        client.write(i * strideBytes, [block], block.length, { fua: false }),
      );
      await client.flush();
      await pause(IDLE_MS);
    };
    // As many writes within one page first: buffers that any burst leaves behind are no part of the map.
    await writeEvery(4 * KIB);
    const before = await stack.residentBytes(0);
    await writeEvery(PAGE_COVERS_BYTES);
    const grown = (await stack.residentBytes(0)) - before;
    report({ ...row('a layer of 1 TiB with every page of its map in use, more than an empty one', grown) });
    client.close();
  } finally {
    await stack.stop();
  }
}

function row(name: string, bytes: number): Figure {
  return { bench: 'memory', case: name, metric: 'PSS, all processes', value: bytes / 1e6, unit: 'MB' };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
