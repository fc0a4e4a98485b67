/**
 * SIGKILL campaign: kills processes of a small cluster under load, again and again. Users write and flush, snapshots
 * come and go, layers are purged, copies are rebuilt. After each kill it proves that nothing was lost that a flush had
 * covered, that a rebuild brings the copies back, and that they end equal.
 */
import crypto from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CopyRecord, decideCurrentCopies } from '@holdfast/core/model/copy-record.js';
import type { ReplicaId } from '@holdfast/core/model/ids.js';
import { systemCode } from '@holdfast/data-engine/base/system-error.js';
import { checksumOfBytes } from '@holdfast/data-engine/layers/device-checksum.js';
import type { NbdClient } from '@holdfast/data-engine/nbd/client.js';
import { contiguous } from '@holdfast/data-engine/nbd/export.js';
import { BlockModel } from '@holdfast/testkit/block-model.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import {
  type AgentCluster,
  type AgentProcess,
  attach,
  connectTo,
  createVolume,
  type DiskType,
  type TestVolume,
} from './agents.js';
import { CampaignLayers } from './campaign-layers.js';

const BLOCK_BYTES = 4096;
const SIZE_BYTES = 8 * 1024 * 1024;
/** Writers at once. Each has a part of the device to itself, so that the order of writes to a block is known. */
const WRITERS = 8;
const LOAD_MS = 60;
/** Time until a rebuild of so small a volume has ended. A shorter wait puts the next kill into the middle of it. */
const REBUILD_MS_MAX = 400;

/** Processes that are killed at once, and how many kills that counts for. */
const TARGETS = {
  'engine host': 10,
  'replica host': 10,
  'replica host beside the engine': 4,
  'all hosts': 3,
  agent: 3,
  'agent with its hosts': 3,
  'agent of the engine': 1,
  'every agent': 1,
};
type Target = keyof typeof TARGETS;

export class SigkillCampaign {
  private readonly random: SeededRandom;
  private readonly model = new BlockModel(SIZE_BYTES);
  private epoch = 0;
  private home = 0;
  private writing = false;
  private client: NbdClient | undefined;
  private readonly layers: CampaignLayers;
  kills = 0;
  rebuildsUnderLoad = 0;
  readonly killsByTarget = new Map<string, number>();

  private constructor(
    seed: number,
    private readonly cluster: AgentCluster,
    private readonly volume: TestVolume,
  ) {
    this.random = new SeededRandom(seed);
    this.layers = new CampaignLayers(new SeededRandom(seed + 1), () => ({
      agent: this.agent(this.home),
      volumeId: this.volume.volumeId,
      epoch: this.epoch,
    }));
  }

  get done(): Record<string, number> {
    const { taken, purges } = this.layers;
    return {
      ...Object.fromEntries(this.killsByTarget),
      snapshots: taken,
      purges,
      rebuildsUnderLoad: this.rebuildsUnderLoad,
    };
  }

  static async create(seed: number, cluster: AgentCluster, disks: DiskType): Promise<SigkillCampaign> {
    // One agent has no copy: an engine there runs in a process of its own, and elsewhere beside a copy.
    const holders = cluster.agents.slice(1);
    return new SigkillCampaign(seed, cluster, await createVolume(holders, SIZE_BYTES, disks));
  }

  async run(kills: number): Promise<void> {
    this.client = await this.attach();
    while (this.kills < kills) {
      const target = this.random.weighted(TARGETS);
      try {
        await this.killOnce(target);
      } catch (error) {
        throw new Error(`after ${this.kills} kills, the last of ${target}: ${String(error)}`, {
          cause: error,
        });
      }
    }
  }

  private async killOnce(target: Target): Promise<void> {
    const load = this.startLoad();
    await sleep(LOAD_MS + this.random.below(LOAD_MS));
    const rebuild = this.random.chance(3) ? this.rebuildUnderLoad() : undefined;
    if (rebuild !== undefined) await Promise.race([rebuild, sleep(this.random.below(REBUILD_MS_MAX))]);
    const killed = await this.kill(target);
    this.killsByTarget.set(target, (this.killsByTarget.get(target) ?? 0) + killed);
    this.kills += killed;
    const engineDied = !['replica host', 'agent', 'agent with its hosts'].includes(target);
    if (!engineDied) await sleep(this.random.below(LOAD_MS));
    this.writing = false;
    const errors = await load;
    if (!engineDied && errors.length > 0) throw errors[0];
    await this.comeBack();
    await rebuild;
    if (engineDied) await this.takeOver(target === 'engine host');
    await this.rebuildAll();
    await this.equal();
    await this.compare();
    await this.layers.compare();
    await this.letGoAndVerify();
    this.client = await this.attach();
  }

  // The load

  private startLoad(): Promise<unknown[]> {
    const { client } = this;
    if (client === undefined) throw new Error('no client is connected');
    this.writing = true;
    const errors: unknown[] = [];
    const loops = Array.from({ length: WRITERS }, (_, part) => this.write(client, part));
    const changes = this.layers.disturb(() => this.writing);
    const all = [...loops, this.flush(client), changes].map((loop) =>
      loop.catch((error: unknown) => void errors.push(error)),
    );
    return Promise.all(all).then(() => errors);
  }

  private async write(client: NbdClient, part: number): Promise<void> {
    const random = new SeededRandom(this.random.below(2 ** 31));
    const blocks = SIZE_BYTES / BLOCK_BYTES / WRITERS;
    while (this.writing) {
      const count = 1 + random.below(8);
      const offset = (part * blocks + random.below(blocks - count)) * BLOCK_BYTES;
      const fua = random.chance(16);
      const bytes = random.bytes(count * BLOCK_BYTES);
      this.model.writing(offset, bytes);
      await client.write(offset, [bytes], bytes.length, { fua });
      if (fua) this.model.wroteForGood(offset, bytes);
      else this.model.wrote(offset, bytes);
    }
  }

  private async flush(client: NbdClient): Promise<void> {
    while (this.writing) {
      await sleep(10);
      const moment = this.model.moment(true);
      await client.flush();
      this.model.flushed(moment);
    }
  }

  /** Kills the host of one copy, and starts its rebuild while users go on; the next kill may end that. */
  private async rebuildUnderLoad(): Promise<void> {
    const away = this.random.pick(
      this.volume.replicas.filter(({ agent }) => agent !== this.agent(this.home)),
    );
    this.kills += killPids(await away.agent.hostPids('replica-host'));
    this.rebuildsUnderLoad += 1;
    await eventually(
      'a rebuild that may begin or fails for what was killed',
      () =>
        this.rebuild(away.agent, away.address.replicaId).then(
          () => true,
          (error: unknown) => (this.writing ? String(error) : true),
        ),
      (answer) => answer === true,
    );
  }

  // The kills

  private async kill(target: Target): Promise<number> {
    const engineNode = this.agent(this.home);
    const others = this.cluster.agents.filter((agent) => agent !== engineNode);
    const other = this.random.pick(others);
    switch (target) {
      case 'engine host':
        return killPids(await engineNode.hostPids(this.isBesideCopy ? 'replica-host' : 'engine-host'));
      case 'replica host':
        return killPids(await other.hostPids('replica-host'));
      case 'replica host beside the engine':
        return killPids(await engineNode.hostPids('host'));
      case 'all hosts':
        return killPids(
          (await Promise.all(this.cluster.agents.map((agent) => agent.hostPids('host')))).flat(),
        );
      case 'agent':
        await other.killAlone();
        return 1;
      case 'agent with its hosts':
        await other.kill();
        return 1;
      case 'agent of the engine':
        await engineNode.kill();
        return 1;
      case 'every agent':
        await Promise.all(this.cluster.agents.map((agent) => agent.kill()));
        return this.cluster.agents.length;
    }
  }

  /** Starts agents that were killed. */
  private async comeBack(): Promise<void> {
    await Promise.all(
      this.cluster.agents
        .filter(({ child }) => child?.exitCode !== null || child.signalCode !== null)
        .map((agent) => agent.start()),
    );
  }

  // What the control plane would do

  private async takeOver(copiesLived: boolean): Promise<void> {
    this.client?.close();
    // Copies whose processes lived keep what was acknowledged; else only what was flushed is promised.
    if (copiesLived) this.model.lostInFlight();
    else this.model.lostUnflushed();
    this.home = this.random.below(this.cluster.agents.length);
    this.client = await this.attach();
  }

  /** Asks all copies what they hold, decides which to believe, and starts an engine at a new epoch. */
  private async attach(): Promise<NbdClient> {
    this.epoch += 1;
    // An agent may not have noticed yet that a host is gone.
    const { record, current } = await eventually(
      'enough copies',
      () => this.survey(),
      ({ current }) => current.length > 0,
    );
    const replicas = this.volume.replicas.map(({ address }) => address);
    const started = await attach(this.volume, this.agent(this.home), this.epoch, {
      record: { ...record, members: [...record.members] },
      replicas: replicas.filter(({ replicaId }) => current.includes(replicaId)),
    });
    return connectTo(started);
  }

  private async survey(): Promise<{ record: CopyRecord; current: readonly string[] }> {
    const found = new Map<ReplicaId, CopyRecord>();
    for (const { agent, address } of this.volume.replicas) {
      const route = `/v1/replicas/${address.replicaId}/open`;
      const { body } = await agent.call('POST', route, { epoch: this.epoch });
      // The casts: the agent answers with what the protocol declares.
      if (body.record) found.set(address.replicaId as ReplicaId, body.record as CopyRecord);
    }
    // The casts: the test's records are those that agents have stored.
    const known = this.cluster.api.records.at(-1) ?? (this.volume.record as unknown as CopyRecord);
    const decision = decideCurrentCopies({ known, found });
    if (decision.kind === 'go') return { record: decision.record, current: decision.current };
    return { record: known, current: [] };
  }

  private async rebuildAll(): Promise<void> {
    for (const { agent, address } of this.volume.replicas) {
      await this.rebuild(agent, address.replicaId);
    }
  }

  private async rebuild(agent: AgentProcess, replicaId: string): Promise<void> {
    const { controlUrl, nbdHost, nbdPort } = agent.beat.node;
    const address = this.volume.replicas.find((one) => one.address.replicaId === replicaId)?.address;
    const target = { ...address, controlUrl, nbdHost, nbdPort };
    const rebuildId = crypto.randomUUID();
    const ask = { rebuildId, epoch: this.epoch, target, sourceReplicaIds: [] };
    const home = this.agent(this.home);
    // A purge that was asked for under load may still run.
    const { status, body } = await eventually(
      'a rebuild that may begin',
      () => home.command(this.volume.volumeId, 'start-rebuild', ask),
      (answer) => answer.body.code !== 'engine.busy',
    );
    if (body.code === 'rebuild.finished') return;
    if (status !== 200) throw new Error(JSON.stringify(body));
    const beat = await this.cluster.api.until(home.name, ({ engines }) =>
      engines.some(({ rebuilds }) =>
        rebuilds.some((one) => one.rebuildId === rebuildId && one.state !== 'running'),
      ),
    );
    const report = beat.engines
      .flatMap(({ rebuilds }) => rebuilds)
      .find((one) => one.rebuildId === rebuildId);
    if (report?.state !== 'succeeded') throw new Error(`a rebuild failed: ${JSON.stringify(report?.error)}`);
  }

  // The proof

  /**
   * Waits until the copies are equal, which the engine sees to after an unclean stop. Layer changes wait for that too.
   */
  private async equal(): Promise<void> {
    const { volumeId } = this.volume;
    const nothing = { epoch: this.epoch, snapshotId: crypto.randomUUID() };
    const { status, body } = await this.agent(this.home).command(volumeId, 'remove-snapshot', nothing);
    if (status !== 200) throw new Error(`the copies do not become equal: ${JSON.stringify(body)}`);
  }

  private async compare(): Promise<void> {
    if (this.client === undefined) throw new Error('no client is connected');
    const held = contiguous(await this.client.read(0, SIZE_BYTES));
    const wrong = this.model.wrongBlocks(0, held);
    if (wrong.length > 0) throw new Error(`blocks ${wrong.slice(0, 20)} hold what they must not`);
    this.model.replace(held);
  }

  private async letGoAndVerify(): Promise<void> {
    this.client?.close();
    const { status } = await this.agent(this.home).call(
      'DELETE',
      `/v1/engines/${this.volume.volumeId}?epoch=${this.epoch}`,
    );
    if (status !== 200) throw new Error(`the engine does not stop: ${status}`);
    const expected = checksumOfBytes(this.model.contents());
    for (const { agent, address } of this.volume.replicas) {
      const ask = () => agent.call('POST', `/v1/replicas/${address.replicaId}/checksum`);
      const { body } = await eventually('a checksum', ask, (answer) => answer.status === 200);
      if (body.checksum !== expected) throw new Error(`copy ${address.replicaId} differs from what was read`);
    }
  }

  /** Does the engine run in the process that holds its node's copy? */
  private get isBesideCopy(): boolean {
    return this.volume.replicas.some(({ agent }) => agent === this.agent(this.home));
  }

  private agent(index: number): AgentProcess {
    const agent = this.cluster.agents[index];
    if (agent === undefined) throw new Error(`no agent ${index}`);
    return agent;
  }
}

/** @returns how many were killed; a process that died a moment ago, and is still listed, does not count */
function killPids(pids: readonly number[]): number {
  return pids.filter((pid) => killPid(pid)).length;
}

function killPid(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return false;
    throw error;
  }
}
