// Benchmark of rebuilds between real agents, without the control plane. The engine runs on the first agent, the source
// is on the second and the target on the third, so that the processor time of both ends can be told apart. `run` is
// called by the repository's `npm run bench`.
import crypto from 'node:crypto';
import {
  type RebuildOptions,
  type ReplicaAddress,
  replicaStateSchema,
} from '@holdfast/core/model/agent-protocol.js';
import type { EngineCommandName } from '@holdfast/core/model/engine-commands.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import type { RebuildPhase } from '@holdfast/core/model/rebuild.js';
import type { BenchOptions, Figure, Report } from '@holdfast/data-engine/bench/figure.js';
import { median } from '@holdfast/data-engine/bench/median.js';
import type { NbdClient } from '@holdfast/data-engine/nbd/client.js';
import { bareComparison, bareRebuild } from './bare-rebuild.js';
import { secondsToCopy, secondsToRead } from './plain-copy.js';
import { type FollowedRebuild, follow } from './rebuild-watch.js';
import { BenchStack, type BenchVolume, KIB, MIB, timed } from './stack.js';

const SOURCE = 1;
const TARGET = 2;
/** Size of the volume that the full rebuild's targets are for. */
const NOMINAL_BYTES = 2048 * MIB;
/** A disk may be several times as fast for some seconds as for the next ones: rebuilds and their baselines take turns. */
const ROUNDS = 5;
const BARE = 'a bare loop of the same calls';
const OPTIONS: RebuildOptions = {
  purgesFirst: true,
  fastRebuild: true,
  blockHash: 'blake3',
  sourcesMax: 1,
  bandwidthBytesPerSecond: null,
};

export async function run({ quick, report }: BenchOptions): Promise<void> {
  const bytes = quick ? 256 * MIB : NOMINAL_BYTES;
  const stack = await BenchStack.start(3);
  try {
    const volume = await stack.volume(bytes, 3);
    const bench = new RebuildBench(stack, volume, report);
    const rounds = quick ? 1 : ROUNDS;
    await bench.fill();
    await bench.delta(rounds);
    await bench.resync(quick ? 3 : 30);
    await bench.fast();
    await bench.full(rounds);
    await bench.userRate();
    await fixedCost(stack, report);
  } finally {
    await stack.stop();
  }
}

class RebuildBench {
  private readonly bytes: number;
  private readonly size: string;

  /** @param volume has three copies, one per agent */
  constructor(
    private readonly stack: BenchStack,
    private volume: BenchVolume,
    private readonly print: Report,
  ) {
    this.bytes = volume.sizeBytes;
    this.size = `${this.bytes / MIB} MiB`;
  }

  private report(figure: Omit<Figure, 'bench'>): void {
    this.print({ bench: 'rebuild', ...figure });
  }

  /** Fills the copies with data that can't be compressed. */
  async fill(): Promise<void> {
    await timed(this.bytes / MIB, 4, (i) =>
      this.volume.client.write(i * MIB, [crypto.randomBytes(MIB)], MIB, { fua: false }),
    );
    await this.volume.client.flush();
  }

  /** Delta rebuild: the target was away since a time that no record tells, and one block in a hundred has changed. */
  async delta(rounds: number): Promise<void> {
    const blocks = this.bytes / (4 * KIB);
    const measured = await inTurn(rounds, async () => {
      // Or each round would compare the layers of those before it too.
      await this.change('purge');
      await this.attachWithoutTarget();
      await this.writeAtRandom(Math.round(blocks / 100), 4 * KIB);
      // The copies themselves: a plain file that was just written may still lie in a cache of the disk.
      const files = await Promise.all([SOURCE, TARGET].map((agent) => this.stack.imagesOf(agent)));
      const baseline = secondsToRead(files.flat());
      const bare = await bareComparison(files);
      const { seconds, last } = await this.rebuild({ fastRebuild: false });
      return { seconds, baseline, bare: bare.seconds, sent: last.bytes.sent };
    });
    const name = `delta, 1 % of 4 KiB blocks of ${this.size}`;
    this.report({
      case: name,
      metric: 'sent',
      value: (100 * measured.sent) / this.bytes,
      unit: '%',
      target: 20,
      better: 'lower',
      longhorn: '100 %',
    });
    this.report({
      case: name,
      metric: 'time',
      value: measured.seconds,
      unit: 's',
      baseline: measured.baseline,
      ratioTarget: 1.5,
      better: 'lower',
      longhorn: '26 s',
    });
    // It reads and hashes both copies, and sends and writes nothing.
    this.report({
      case: `${name}: ${BARE}`,
      metric: 'time',
      value: measured.bare,
      unit: 's',
      baseline: measured.baseline,
      better: 'lower',
    });
  }

  /** Resync: the target was dropped, 100 MiB were written, and it comes back. */
  async resync(awaySeconds: number): Promise<void> {
    await this.change('purge');
    const { replicaId } = copyAt(this.volume, TARGET);
    const drop = { replicaId, reason: 'the benchmark takes it away' };
    await this.stack.command(this.volume, 'drop-replica', drop);
    const written = Math.min(100 * MIB, this.bytes / 4);
    await this.writeAtRandom(written / (64 * KIB), 64 * KIB);
    await new Promise((resolve) => setTimeout(resolve, awaySeconds * 1000));
    const rebuild = await this.rebuild({});
    const name = `resync after ${awaySeconds} s away, ${written / MIB} MiB written`;
    const longhorn = 'a whole delta';
    this.report({
      case: name,
      metric: 'time',
      value: rebuild.seconds,
      unit: 's',
      target: 2,
      better: 'lower',
      longhorn,
    });
    const value = rebuild.last.bytes.sent / written;
    this.report({
      case: name,
      metric: 'sent',
      value,
      unit: '× written',
      target: 1.3,
      better: 'lower',
      longhorn,
    });
  }

  /** Fast rebuild: three snapshots whose checksums are known on both sides. */
  async fast(): Promise<void> {
    const ids: string[] = [];
    for (let count = 1; count <= 3; count += 1) {
      await this.writeAtRandom(64, 64 * KIB);
      ids.push(await this.snapshot(`snapshot-${count}`));
    }
    await this.change('purge');
    for (const snapshotId of ids) await this.change('hash-snapshot', { snapshotId, force: false });
    await this.attachWithoutTarget();
    const rebuild = await this.rebuild({});
    const methods = rebuild.last.snapshots
      .filter(({ name }) => name.startsWith('snapshot-'))
      .map(({ method }) => method);
    if (methods.join() !== 'fast,fast,fast')
      throw new Error(`not fast: ${JSON.stringify(rebuild.last.snapshots)}`);
    this.report({
      case: `fast, 3 snapshots of ${this.size}, all equal`,
      metric: 'time',
      value: rebuild.seconds,
      unit: 's',
      target: 1,
      better: 'lower',
      longhorn: '21 s',
    });
  }

  /** Full rebuild: a new, empty copy takes the target's place. */
  async full(rounds: number): Promise<void> {
    const measured = await inTurn(rounds, async () => {
      await this.change('purge');
      const baseline = secondsToCopy(this.stack.folder, this.bytes);
      const bare = await bareRebuild(this.stack.folder, this.bytes);
      await this.replaceTarget();
      const before = await this.cpuSeconds();
      const rebuild = await this.rebuild({});
      const cpu = (await this.cpuSeconds()) - before;
      // What is left to verify when the last byte is written: all else was verified meanwhile.
      const behind = secondsIn(rebuild, 'verifying');
      return {
        baseline,
        bare: bare.seconds,
        bareCpu: bare.cpuSeconds,
        cpu,
        data: secondsIn(rebuild, 'copying') + behind,
        behind,
        whole: rebuild.seconds,
      };
    });
    const perSecond = (seconds: number) => this.bytes / 1e6 / seconds;
    const ofNominal = (seconds: number) => seconds * (NOMINAL_BYTES / this.bytes);
    const baseline = perSecond(measured.baseline);
    const name = `full, ${this.size}`;
    this.report({
      case: `${name}, copying and verifying`,
      metric: 'rate',
      value: perSecond(measured.data),
      unit: 'MB/s',
      baseline,
      ratioTarget: 0.6,
      longhorn: '424 MB/s, not verified',
    });
    this.report({
      case: `${name}, copying and verifying, both ends`,
      metric: 'CPU for 2 GiB',
      value: ofNominal(measured.cpu),
      unit: 's',
      target: 4,
      better: 'lower',
      longhorn: '4.9 s, not verified',
    });
    // What the targets can be at most on this machine.
    this.report({
      case: `${name}: ${BARE}`,
      metric: 'rate',
      value: perSecond(measured.bare),
      unit: 'MB/s',
      baseline,
    });
    this.report({
      case: `${name}: ${BARE}, both ends`,
      metric: 'CPU for 2 GiB',
      value: ofNominal(measured.bareCpu),
      unit: 's',
    });
    const behind = { metric: 'time', value: measured.behind, unit: 's' };
    this.report({ case: `${name}, verifying after the last byte`, ...behind });
    this.report({
      case: `${name}, with all phases`,
      metric: 'time',
      value: measured.whole,
      unit: 's',
      longhorn: '15 s',
    });
  }

  /** Rate of user writes while a rebuild without a limit runs, beside their rate before it. */
  async userRate(): Promise<void> {
    const small = new Load(this.volume.client, this.bytes, 4 * KIB);
    await small.during(new Promise((resolve) => setTimeout(resolve, 1000)));
    const baseline = await small.during(new Promise((resolve) => setTimeout(resolve, 3000)));
    await this.replaceTarget();
    const value = await small.during(this.rebuild({}));
    this.report({
      case: `user writes of 4 KiB, depth 8, during a full rebuild of ${this.size}`,
      metric: 'iops',
      value,
      unit: 'IOPS',
      baseline,
      ratioTarget: 0.5,
    });
  }

  /** Attaches the other agents' copies without the target, which the new attachment's record does not name. */
  private async attachWithoutTarget(): Promise<void> {
    await this.stack.detach(this.volume);
    const epoch = this.volume.epoch + 1;
    const others = this.volume.replicas.filter((_, index) => index !== TARGET);
    this.volume = { ...this.volume, ...(await this.stack.attach(this.volume, epoch, others)) };
  }

  private async replaceTarget(): Promise<void> {
    const { volumeId, sizeBytes, replicas } = this.volume;
    const { replicaId } = copyAt(this.volume, TARGET);
    await this.stack.command(this.volume, 'drop-replica', { replicaId, reason: 'replaced' });
    // As a worker does: the copy goes only while it still is what was seen of it.
    const seen = await this.stack.call(TARGET, 'GET', `/v1/replicas/${replicaId}`);
    const expected = replicaStateSchema.parse(seen);
    await this.stack.call(TARGET, 'DELETE', `/v1/replicas/${replicaId}`, { expected });
    replicas[TARGET] = await this.stack.replica(
      volumeId,
      sizeBytes,
      TARGET,
      asId<ReplicaId>(crypto.randomUUID()),
      null,
    );
  }

  private rebuild(options: Partial<RebuildOptions>): Promise<FollowedRebuild> {
    return follow(this.stack, this.volume, copyAt(this.volume, TARGET), {
      source: copyAt(this.volume, SOURCE),
      options: { ...OPTIONS, ...options },
    });
  }

  private async cpuSeconds(): Promise<number> {
    return (await this.stack.cpuSeconds(SOURCE)) + (await this.stack.cpuSeconds(TARGET));
  }

  private async writeAtRandom(count: number, length: number): Promise<void> {
    const places = this.bytes / length;
    // Different blocks, so that the bytes written are the bytes changed.
    const chosen = new Set<number>();
    while (chosen.size < count) chosen.add(crypto.randomInt(places));
    const offsets = [...chosen].map((place) => place * length);
    const data = crypto.randomBytes(length);
    await timed(count, 8, async (i) => {
      const offset = offsets[i];
      if (offset !== undefined) await this.volume.client.write(offset, [data], length, { fua: false });
    });
    await this.volume.client.flush();
  }

  private async snapshot(name: string): Promise<string> {
    const snapshot = newSnapshot(name);
    await this.change('take-snapshot', { snapshot });
    return snapshot.id;
  }

  /** Changes layers, and waits: purges and hashes go on after the answer. */
  private async change(name: EngineCommandName, ask = {}): Promise<void> {
    await this.stack.command(this.volume, name, ask);
    const state = () => this.stack.command(this.volume, 'layers', {});
    for (let now = await state(); now.busy !== ''; now = await state())
      await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Measures so many times, and takes the median of each figure. */
async function inTurn<Name extends string>(
  rounds: number,
  measure: () => Promise<Record<Name, number>>,
): Promise<Record<Name, number>> {
  const measured: Record<Name, number>[] = [];
  for (let round = 0; round < rounds; round += 1) measured.push(await measure());
  const [first] = measured;
  // The cast: an object's keys are typed as strings only.
  const names = Object.keys(first ?? {}) as Name[];
  const medians = names.map((name) => [name, median(measured.map((round) => round[name]))]);
  return Object.fromEntries(medians);
}

/** A load of small writes at random places, eight at a time. */
class Load {
  private readonly places: number;
  private readonly data: Buffer;

  constructor(
    private readonly client: NbdClient,
    bytes: number,
    private readonly length: number,
  ) {
    this.places = bytes / length;
    this.data = crypto.randomBytes(length);
  }

  /** Writes per second until the given work has ended. */
  async during(work: Promise<unknown>): Promise<number> {
    let running = true;
    const ended = work.finally(() => {
      running = false;
    });
    let count = 0;
    const startedMs = performance.now();
    const lane = async () => {
      while (running) {
        const offset = crypto.randomInt(this.places) * this.length;
        await this.client.write(offset, [this.data], this.length, { fua: false });
        count += 1;
      }
    };
    await Promise.all([ended, ...Array.from({ length: 8 }, lane)]);
    return (1000 * count) / (performance.now() - startedMs);
  }
}

/** Cost of each further snapshot in a rebuild, beyond its data. */
async function fixedCost(stack: BenchStack, report: Report): Promise<void> {
  const MORE = 10;
  const one = await secondsWithSnapshots(stack, 1);
  const more = await secondsWithSnapshots(stack, 1 + MORE);
  report({
    bench: 'rebuild',
    case: `fixed cost per snapshot, of ${MORE} more`,
    metric: 'time',
    value: ((more - one) * 1000) / MORE,
    unit: 'ms',
    target: 50,
    better: 'lower',
    longhorn: '6 s',
  });
}

/** Seconds of a rebuild of a volume with so many snapshots of a block each. */
async function secondsWithSnapshots(stack: BenchStack, count: number): Promise<number> {
  const volume = await stack.volume(16 * MIB, 2);
  for (let index = 0; index < count; index += 1) {
    await volume.client.write(index * 4 * KIB, [crypto.randomBytes(4 * KIB)], 4 * KIB, { fua: false });
    await stack.command(volume, 'take-snapshot', { snapshot: newSnapshot(`s${index}`) });
  }
  const target = await stack.replica(
    volume.volumeId,
    16 * MIB,
    TARGET,
    asId<ReplicaId>(crypto.randomUUID()),
    null,
  );
  const source = copyAt(volume, SOURCE);
  const { seconds } = await follow(stack, volume, target, { source, options: OPTIONS });
  await stack.detach(volume);
  return seconds;
}

function newSnapshot(name: string) {
  return { id: crypto.randomUUID(), name, origin: 'user' as const, createdAt: new Date().toISOString() };
}

function copyAt({ replicas }: BenchVolume, index: number): ReplicaAddress {
  const found = replicas[index];
  if (found === undefined) throw new Error(`the volume has no copy ${index}`);
  return found;
}

/** Zero for a phase that was too short to be seen. */
function secondsIn({ phaseSeconds }: FollowedRebuild, phase: RebuildPhase): number {
  return phaseSeconds.get(phase) ?? 0;
}
