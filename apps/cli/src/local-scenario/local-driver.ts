/**
 * Driver of a scenario on the running local stack, in real time. It makes the stack look like the given, and puts back
 * what it changed: settings, switches and labels of nodes and disks, agents that it killed, and its own volumes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Given,
  type ScenarioDriver,
  ScenarioError,
  type StepOutcome,
} from '@holdfast/scenario/driver.js';
import type { Facts } from '@holdfast/scenario/facts.js';
import type { NodeGiven, VolumeGiven } from '@holdfast/scenario/given.js';
import { runStep, type StepCall, type StepHandlers } from '@holdfast/scenario/steps.js';
import type { Disk, Node } from '../types.js';
import { asked, LocalCluster, Refused } from './local-cluster.js';
import { localFacts } from './local-facts.js';
import { createVolume, localSteps } from './local-steps.js';
import { LocalWriter } from './local-writer.js';
import { orderAgent } from './order-agent.js';

const LOOK_MS = 300;
const PREPARE_MS_MAX = 90_000;
/** How long its volumes may take to be deleted in the end. */
const CLEAN_MS_MAX = 60_000;

export class LocalDriver implements ScenarioDriver {
  private readonly cluster: LocalCluster;
  private readonly writer = new LocalWriter();
  private readonly handlers: StepHandlers;
  private nodesBefore: readonly Node[] = [];
  private disksBefore: readonly Disk[] = [];
  private readonly settingsBefore = new Map<string, string | number | boolean>();
  private startMs = 0;

  constructor(env: NodeJS.ProcessEnv) {
    this.cluster = new LocalCluster(env);
    this.handlers = localSteps(this.cluster, this.writer, (wanted) => this.changeSettings(wanted));
  }

  async prepare({ cluster, settings, volumes }: Given): Promise<void> {
    const foreign = await this.cluster.volumes();
    if (foreign.length > 0) {
      throw new ScenarioError(
        `the local stack holds volumes (${foreign.length}): a scenario needs one without any`,
      );
    }
    this.cluster.cast(cluster.nodes.map(({ name }) => name));
    await this.startAgents();
    await this.cluster.refresh();
    this.nodesBefore = this.cluster.nodes;
    this.disksBefore = this.cluster.disks;
    await this.changeSettings(settings);
    for (const node of cluster.nodes) await this.dress(node);
    for (const node of this.nodesBefore) {
      if (this.cluster.nodeNameOf(node.id) === null)
        await this.patchNode(node.id, { allowScheduling: false });
    }
    for (const volume of volumes) await this.giveVolume(volume, cluster.nodes);
    for (const { name, waits } of volumes) if (waits !== true) await this.awaitVolume(name);
    this.startMs = Date.now();
  }

  now(): number {
    return (Date.now() - this.startMs) / 1000;
  }

  async pause(secondsMax: number): Promise<void> {
    await sleep(Math.min(LOOK_MS, secondsMax * 1000));
  }

  observe(): Promise<Facts> {
    return localFacts(this.cluster, (volume) => this.writer.missing(volume));
  }

  async act(call: StepCall): Promise<StepOutcome> {
    try {
      await runStep(this.handlers, call);
      return { kind: 'done' };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { kind: 'refused', code: error.code, message: error.message };
    }
  }

  async findings(): Promise<string[]> {
    const { volumes } = await this.observe();
    return volumes.flatMap(({ name, missingWrites }) =>
      missingWrites > 0 ? [`volume ${name} lost ${missingWrites} acknowledged writes`] : [],
    );
  }

  heal(): Promise<never> {
    return Promise.reject(new ScenarioError('a scenario that heals is for the simulator'));
  }

  async close(): Promise<void> {
    // Before that nothing of the stack was touched.
    if (this.nodesBefore.length === 0) return;
    await this.startAgents();
    for (const name of this.cluster.volumeIds.keys()) await this.dropVolume(name);
    const own = new Set(this.cluster.volumeIds.values());
    await this.until(CLEAN_MS_MAX, async () => !(await this.cluster.volumes()).some(({ id }) => own.has(id)));
    for (const [name, value] of this.settingsBefore) await this.putSetting(name, value);
    for (const node of this.nodesBefore) {
      const { allowScheduling, cordoned, evictionRequested, tags, zone, region } = node;
      await this.patchNode(node.id, { allowScheduling, cordoned, evictionRequested, tags, zone, region });
    }
    for (const disk of this.disksBefore) await this.patchDisk(disk, disk);
  }

  private async dropVolume(name: string): Promise<void> {
    await this.act({ name: 'detach', ask: { volume: name, force: true } });
    const isGone = async () => (await this.act({ name: 'deleteVolume', ask: name })).kind === 'done';
    await this.until(CLEAN_MS_MAX, async () => {
      const volumes = await this.cluster.volumes();
      const isThere = volumes.some(({ name: other, state }) => other === name && state !== 'deleting');
      return !isThere || isGone();
    });
  }

  /** Every agent of the stack runs, and its node is Ready. */
  private async startAgents(): Promise<void> {
    const { agents, controlSocket } = this.cluster.local;
    await Promise.all(agents.map(({ name }) => orderAgent(controlSocket, name)));
  }

  private async dress({
    name,
    disks,
    tags,
    zone,
    region,
    allowScheduling = true,
    cordoned = false,
  }: NodeGiven) {
    const { id } = this.cluster.node(name);
    await this.patchNode(id, { tags, zone, region, allowScheduling, cordoned, evictionRequested: false });
    const own = this.disksBefore.filter(({ nodeId }) => nodeId === id);
    if (disks.length > own.length) {
      throw new ScenarioError(`node ${name} has ${disks.length} disks, on the local stack ${own.length}`);
    }
    for (const disk of own) {
      const given = disks.find((one, index) => (one.name ?? `disk-${index + 1}`) === disk.name);
      await this.patchDisk(disk, {
        tags: given?.tags ?? [],
        storageReserved: given?.storageReserved ?? disk.storageReserved,
        allowScheduling: given !== undefined && given.allowScheduling !== false,
        evictionRequested: false,
      });
    }
  }

  private async giveVolume(volume: VolumeGiven, nodes: readonly NodeGiven[]): Promise<void> {
    const { attached, copiesOn, waits: _, ...spec } = volume;
    for (const { name } of copiesOn === undefined ? [] : nodes) {
      await this.patchNode(this.cluster.node(name).id, {
        allowScheduling: copiesOn?.includes(name) === true,
      });
    }
    await createVolume(this.cluster, spec);
    if (attached !== undefined)
      await this.act({ name: 'attach', ask: { volume: volume.name, node: attached } });
    for (const { name, allowScheduling = true } of copiesOn === undefined ? [] : nodes) {
      await this.patchNode(this.cluster.node(name).id, { allowScheduling });
    }
  }

  private async awaitVolume(name: string): Promise<void> {
    const isReady = async () => {
      const { state, robustness } = await this.cluster.volume(name);
      return (state === 'attached' || state === 'detached') && robustness === 'healthy';
    };
    if (await this.until(PREPARE_MS_MAX, isReady)) return;
    const { state, robustness } = await this.cluster.volume(name);
    throw new ScenarioError(`the given volume ${name} is ${state} and ${robustness}`);
  }

  private async until(ms: number, holds: () => Promise<boolean>): Promise<boolean> {
    const deadline = Date.now() + ms;
    while (!(await holds())) {
      if (Date.now() > deadline) return false;
      await sleep(LOOK_MS);
    }
    return true;
  }

  private async changeSettings(wanted: Readonly<Record<string, string | number | boolean>>): Promise<void> {
    const { api, clusterId } = this.cluster;
    for (const [name, value] of Object.entries(wanted)) {
      const params = { path: { clusterId, name } };
      const before = await asked(api.GET('/clusters/{clusterId}/settings/{name}', { params }));
      await this.putSetting(name, value);
      if (!this.settingsBefore.has(name)) this.settingsBefore.set(name, before.value);
    }
  }

  private async putSetting(name: string, value: string | number | boolean): Promise<void> {
    const { api, clusterId } = this.cluster;
    const params = { path: { clusterId, name } };
    await asked(api.PUT('/clusters/{clusterId}/settings/{name}', { params, body: { value } }));
  }

  private async patchNode(nodeId: string, body: Partial<NodePatch>): Promise<void> {
    const { api, clusterId } = this.cluster;
    const params = { path: { clusterId, nodeId } };
    await asked(api.PATCH('/clusters/{clusterId}/nodes/{nodeId}', { params, body }));
  }

  private async patchDisk({ id: diskId, nodeId }: Disk, wanted: DiskPatch): Promise<void> {
    const { api, clusterId } = this.cluster;
    const { tags, storageReserved, allowScheduling, evictionRequested } = wanted;
    const params = { path: { clusterId, nodeId, diskId } };
    const body = { tags, storageReserved, allowScheduling, evictionRequested };
    await asked(api.PATCH('/clusters/{clusterId}/nodes/{nodeId}/disks/{diskId}', { params, body }));
  }
}

type NodePatch = Pick<
  Node,
  'allowScheduling' | 'cordoned' | 'evictionRequested' | 'tags' | 'zone' | 'region'
>;
type DiskPatch = Pick<Disk, 'tags' | 'storageReserved' | 'allowScheduling' | 'evictionRequested'>;
