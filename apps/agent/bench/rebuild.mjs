// Benchmark of rebuilds between real agents, without the control plane. The engine runs on the first agent, the source
// is on the second and the target on the third, so that the processor time of both ends can be told apart. `run` is
// called by the repository's `npm run bench`.
import { spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { follow } from './rebuild-watch.mjs';
import { BenchStack, KIB, MIB, timed } from './stack.mjs';

const [SOURCE, TARGET] = [1, 2];
/** Size of the volume that the full rebuild's targets are for. */
const NOMINAL_BYTES = 2048 * MIB;
const OPTIONS = { fastRebuild: true, blockHash: 'blake3', sourcesMax: 1, bandwidthBytesPerSecond: null };

/** @param {{quick: boolean, report: (figure: object) => void}} options */
export async function run({ quick, report }) {
  const bytes = quick ? 256 * MIB : NOMINAL_BYTES;
  const stack = await BenchStack.start(3);
  try {
    const bench = new RebuildBench(stack, bytes, report);
    await bench.fill();
    await bench.delta();
    await bench.resync(quick ? 3 : 30);
    await bench.fast();
    await bench.full();
    await bench.userRate();
    await fixedCost(stack, report);
  } finally {
    await stack.stop();
  }
}

class RebuildBench {
  constructor(stack, bytes, report) {
    this.stack = stack;
    this.bytes = bytes;
    this.report = (figure) => report({ bench: 'rebuild', ...figure });
    this.size = `${bytes / MIB} MiB`;
  }

  /** Makes three copies, one per agent, and fills them with data that can't be compressed. */
  async fill() {
    this.volume = await this.stack.volume(this.bytes, 3);
    await timed(this.bytes / MIB, 4, (i) =>
      this.volume.client.write(i * MIB, [crypto.randomBytes(MIB)], MIB, { fua: false }),
    );
    await this.volume.client.flush();
  }

  /** Delta rebuild: the target was away since a time that no record tells, and one block in a hundred has changed. */
  async delta() {
    await this.#attachWithoutTarget();
    const blocks = this.bytes / (4 * KIB);
    await this.#writeAtRandom(Math.round(blocks / 100), 4 * KIB);
    const baseline = this.#readBoth();
    const rebuild = await this.#rebuild({ fastRebuild: false });
    const name = `delta, 1 % of 4 KiB blocks of ${this.size}`;
    const share = (100 * rebuild.bytes.sent) / this.bytes;
    this.report({
      case: name,
      metric: 'sent',
      value: share,
      unit: '%',
      target: 20,
      better: 'lower',
      longhorn: '100 %',
    });
    const value = rebuild.seconds;
    this.report({
      case: name,
      metric: 'time',
      value,
      unit: 's',
      baseline,
      ratioTarget: 2,
      better: 'lower',
      longhorn: '26 s',
    });
  }

  /** Resync: the target was dropped, 100 MiB were written, and it comes back. */
  async resync(awaySeconds) {
    const { volumeId, epoch, replicas } = this.volume;
    const drop = { epoch, replicaId: replicas[TARGET].replicaId, reason: 'the benchmark takes it away' };
    await this.stack.call(0, 'POST', `/v1/engines/${volumeId}/drop`, drop);
    const written = Math.min(100 * MIB, this.bytes / 4);
    await this.#writeAtRandom(written / (64 * KIB), 64 * KIB);
    await new Promise((resolve) => setTimeout(resolve, awaySeconds * 1000));
    const rebuild = await this.#rebuild({});
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
    const value = rebuild.bytes.sent / written;
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
  async fast() {
    const ids = [];
    for (let count = 1; count <= 3; count += 1) {
      await this.#writeAtRandom(64, 64 * KIB);
      ids.push(await this.#snapshot(`snapshot-${count}`));
    }
    await this.#change({ kind: 'purge' });
    for (const snapshotId of ids) await this.#change({ kind: 'hash', snapshotId, force: false });
    await this.#attachWithoutTarget();
    const rebuild = await this.#rebuild({});
    const methods = rebuild.snapshots
      .filter(({ name }) => name.startsWith('snapshot-'))
      .map(({ method }) => method);
    if (methods.join() !== 'fast,fast,fast')
      throw new Error(`not fast: ${JSON.stringify(rebuild.snapshots)}`);
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
  async full() {
    const baseline = this.#copyRate();
    await this.#replaceTarget();
    const before = await this.#cpuSeconds();
    const rebuild = await this.#rebuild({}, async (phase) => {
      if (phase === 'verifying') this.copied = await this.#cpuSeconds();
    });
    const verified = await this.#cpuSeconds();
    const name = `full, ${this.size}`;
    this.report({
      case: name,
      metric: 'rate',
      value: this.bytes / 1e6 / rebuild.phases.copying,
      unit: 'MB/s',
      baseline,
      ratioTarget: 0.6,
      longhorn: '424 MB/s',
    });
    const scale = NOMINAL_BYTES / this.bytes;
    this.report({
      case: `${name}, both ends`,
      metric: 'CPU for 2 GiB',
      value: (this.copied - before) * scale,
      unit: 's',
      target: 3.2,
      better: 'lower',
      longhorn: '4.9 s',
    });
    this.report({ case: `${name}, verify`, metric: 'time', value: rebuild.phases.verifying, unit: 's' });
    const value = (verified - this.copied) * scale;
    this.report({ case: `${name}, verify, both ends`, metric: 'CPU for 2 GiB', value, unit: 's' });
    this.report({
      case: `${name}, with all phases`,
      metric: 'time',
      value: rebuild.seconds,
      unit: 's',
      longhorn: '15 s',
    });
  }

  /** Rate of user writes while a rebuild without a limit runs, beside their rate before it. */
  async userRate() {
    const small = new Load(this.volume.client, this.bytes, 4 * KIB);
    await small.during(new Promise((resolve) => setTimeout(resolve, 1000)));
    const baseline = await small.during(new Promise((resolve) => setTimeout(resolve, 3000)));
    await this.#replaceTarget();
    const value = await small.during(this.#rebuild({}));
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
  async #attachWithoutTarget() {
    await this.stack.detach(this.volume);
    const epoch = this.volume.epoch + 1;
    const others = this.volume.replicas.filter((_, index) => index !== TARGET);
    this.volume = { ...this.volume, ...(await this.stack.attach(this.volume, epoch, others)) };
  }

  async #replaceTarget() {
    const { volumeId, sizeBytes, replicas, epoch } = this.volume;
    const { replicaId } = replicas[TARGET];
    await this.stack.call(0, 'POST', `/v1/engines/${volumeId}/drop`, {
      epoch,
      replicaId,
      reason: 'replaced',
    });
    // As a worker does: the copy goes only while it still is what was seen of it.
    const expected = await this.stack.call(TARGET, 'GET', `/v1/replicas/${replicaId}`);
    await this.stack.call(TARGET, 'DELETE', `/v1/replicas/${replicaId}`, { expected });
    replicas[TARGET] = await this.stack.replica(volumeId, sizeBytes, TARGET, crypto.randomUUID(), null);
  }

  #rebuild(options, entered) {
    return follow(this.stack, this.volume, this.volume.replicas[TARGET], {
      source: this.volume.replicas[SOURCE],
      options: { ...OPTIONS, ...options },
      entered,
    });
  }

  async #cpuSeconds() {
    return (await this.stack.cpuSeconds(SOURCE)) + (await this.stack.cpuSeconds(TARGET));
  }

  async #writeAtRandom(count, length) {
    const places = this.bytes / length;
    // Different blocks, so that the bytes written are the bytes changed.
    const chosen = new Set();
    while (chosen.size < count) chosen.add(crypto.randomInt(places));
    const list = [...chosen];
    const data = crypto.randomBytes(length);
    await timed(count, 8, (i) => this.volume.client.write(list[i] * length, [data], length, { fua: false }));
    await this.volume.client.flush();
  }

  async #snapshot(name) {
    const snapshot = { id: crypto.randomUUID(), name, origin: 'user', createdAt: new Date().toISOString() };
    await this.#change({ kind: 'take', snapshot });
    return snapshot.id;
  }

  /** Changes layers, and waits: purges and hashes go on after the answer. */
  async #change(command) {
    const { volumeId, epoch } = this.volume;
    await this.stack.call(0, 'POST', `/v1/engines/${volumeId}/layers`, { epoch, ...command });
    const state = () => this.stack.call(0, 'GET', `/v1/engines/${volumeId}/layers?epoch=${epoch}`);
    for (let now = await state(); now.busy !== ''; now = await state())
      await new Promise((resolve) => setTimeout(resolve, 50));
  }

  /** Seconds that `dd` takes to read two files of the volume's size. */
  #readBoth() {
    const file = this.#plainFile('both');
    const [seconds] = [timedCopy(file, '/dev/null', ['iflag=direct'])];
    fs.rmSync(file);
    return 2 * seconds;
  }

  /** MB/s of `dd` from file to file with direct I/O. */
  #copyRate() {
    const [from, to] = [this.#plainFile('from'), path.join(this.stack.folder, 'to')];
    const seconds = timedCopy(from, to, ['iflag=direct', 'oflag=direct', 'conv=fdatasync']);
    for (const file of [from, to]) fs.rmSync(file);
    return this.bytes / 1e6 / seconds;
  }

  #plainFile(name) {
    const file = path.join(this.stack.folder, name);
    const fd = fs.openSync(file, 'w');
    for (let done = 0; done < this.bytes; done += 16 * MIB) fs.writeSync(fd, crypto.randomBytes(16 * MIB));
    fs.fsyncSync(fd);
    fs.closeSync(fd);
    return file;
  }
}

/** A load of small writes at random places, eight at a time. */
class Load {
  constructor(client, bytes, length) {
    Object.assign(this, { client, places: bytes / length, length, data: crypto.randomBytes(length) });
  }

  /** Writes per second until the given work has ended. */
  async during(work) {
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
async function fixedCost(stack, report) {
  const MORE = 10;
  const seconds = [];
  for (const count of [1, 1 + MORE]) {
    const volume = await stack.volume(16 * MIB, 2);
    for (let index = 0; index < count; index += 1) {
      await volume.client.write(index * 4 * KIB, [crypto.randomBytes(4 * KIB)], 4 * KIB, { fua: false });
      const snapshot = {
        id: crypto.randomUUID(),
        name: `s${index}`,
        origin: 'user',
        createdAt: new Date().toISOString(),
      };
      await stack.call(0, 'POST', `/v1/engines/${volume.volumeId}/layers`, {
        kind: 'take',
        epoch: 1,
        snapshot,
      });
    }
    const target = await stack.replica(volume.volumeId, 16 * MIB, TARGET, crypto.randomUUID(), null);
    const source = volume.replicas[SOURCE];
    seconds.push((await follow(stack, volume, target, { source, options: OPTIONS })).seconds);
    await stack.detach(volume);
  }
  report({
    bench: 'rebuild',
    case: `fixed cost per snapshot, of ${MORE} more`,
    metric: 'time',
    value: ((seconds[1] - seconds[0]) * 1000) / MORE,
    unit: 'ms',
    target: 50,
    better: 'lower',
    longhorn: '6 s',
  });
}

function timedCopy(from, to, flags) {
  const startedMs = performance.now();
  const copy = (more) => spawnSync('dd', [`if=${from}`, `of=${to}`, 'bs=4M', ...more], { stdio: 'ignore' });
  // Where the file system has no direct I/O, the copy is a buffered one.
  if (copy(flags).status !== 0) copy(flags.filter((flag) => flag.startsWith('conv')));
  return (performance.now() - startedMs) / 1000;
}
