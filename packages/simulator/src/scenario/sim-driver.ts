/** Driver of a scenario on the simulated cluster: the product's own use cases and reconcilers, in virtual time. */
import { patchDisk } from '@holdfast/control/use-cases/patch-disk.js';
import { patchNode } from '@holdfast/control/use-cases/patch-node.js';
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { isFault } from '@holdfast/core/model/faults.js';
import {
  type Given,
  type ScenarioDriver,
  ScenarioError,
  type StepOutcome,
} from '@holdfast/scenario/driver.js';
import type { Facts } from '@holdfast/scenario/facts.js';
import { diskNameAt, type NodeGiven, type VolumeGiven } from '@holdfast/scenario/given.js';
import { runStep, type StepCall, type StepHandlers } from '@holdfast/scenario/steps.js';
import { checkWorld } from '../check-world.js';
import { chanceFaults } from '../faults.js';
import { World } from '../world.js';
import { WorldWatch } from '../world-watch.js';
import { healWorld } from './heal-world.js';
import { diskFacts, eventFacts, namesOf, nodeFacts, volumeFacts } from './sim-facts.js';
import { SimObjects } from './sim-objects.js';
import { changeSettings } from './sim-settings.js';
import { simSteps } from './sim-steps.js';

/** Seconds that the given may take to come true; a scenario whose given can't be made ends there. */
const PREPARE_SECONDS_MAX = 300;
const TICK_SECONDS = 0.5;
/** Steps that change by which limits and labels what stands is judged: it may break the new ones lawfully. */
const CHANGES_RULES: ReadonlySet<string> = new Set(['set', 'patchNode', 'patchDisk', 'patchVolume']);

export class SimDriver implements ScenarioDriver {
  readonly world: World;
  private readonly objects: SimObjects;
  private readonly handlers: StepHandlers;
  private readonly watch: WorldWatch;
  private readonly found = new Set<string>();
  private startMs = 0;
  private eventsTold = 0;
  private areRulesChanged = false;

  /** @param isWatched false where no expectation looks: then facts are made only where a scenario starts and ends */
  constructor(
    seed: number,
    private readonly options: { readonly isWatched: boolean } = { isWatched: true },
  ) {
    this.world = new World(seed);
    this.watch = new WorldWatch(this.world);
    this.objects = new SimObjects(this.world);
    this.handlers = simSteps(this.objects, (node) => this.addNode(node));
  }

  async prepare({ cluster, settings, volumes, chance }: Given): Promise<void> {
    for (const node of cluster.nodes) this.joinWorld(node);
    await this.world.run(2);
    await changeSettings(this.world, settings);
    for (const node of cluster.nodes) await this.label(node);
    for (const volume of volumes) await this.giveVolume(volume, cluster.nodes);
    for (const { name, waits } of volumes) if (waits !== true) await this.awaitVolume(name);
    this.startMs = this.world.clock.now().getTime();
    if (chance !== undefined) this.world.faults = chanceFaults(this.world.random, chance);
  }

  now(): number {
    return (this.world.clock.now().getTime() - this.startMs) / 1000;
  }

  async pause(secondsMax: number): Promise<void> {
    await this.world.advance(this.options.isWatched ? Math.min(TICK_SECONDS, secondsMax) : secondsMax);
    if (!this.areRulesChanged && this.options.isWatched) {
      for (const finding of await checkWorld(this.world)) this.found.add(finding);
    }
    const [first] = this.watch.findings;
    if (first !== undefined) throw new ScenarioError(first);
  }

  get acknowledged(): number {
    return this.objects.clients().reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);
  }

  async observe(): Promise<Facts> {
    if (!this.options.isWatched) return { volumes: [], nodes: [], disks: [], events: [] };
    const { store, clusterId } = this.world;
    const fleet = await store.loadFleet(clusterId);
    const names = namesOf(fleet);
    const volumes = [];
    for (const client of this.objects.clients()) {
      const view = await store.loadVolume(client.volumeId);
      if (view !== undefined) volumes.push(volumeFacts(view, names, (await client.missing()).length));
    }
    const events = store.events.slice(this.eventsTold);
    const told = eventFacts(events, this.eventsTold, (id) => this.objects.volumeName(id));
    this.eventsTold = store.events.length;
    return { volumes, nodes: nodeFacts(fleet), disks: diskFacts(fleet, names), events: told };
  }

  async act(call: StepCall): Promise<StepOutcome> {
    if (CHANGES_RULES.has(call.name)) this.areRulesChanged = true;
    try {
      await runStep(this.handlers, call);
      return { kind: 'done' };
    } catch (error) {
      if (!isFault(error)) throw error;
      return { kind: 'refused', code: error.code, message: error.message };
    }
  }

  async findings(): Promise<string[]> {
    for (const client of this.objects.clients()) {
      if ((await this.world.store.loadVolume(client.volumeId)) === undefined) continue;
      const missing = await client.missing();
      if (missing.length > 0) this.found.add(`a volume lost the acknowledged writes ${missing.join(', ')}`);
    }
    return [...this.found, ...this.watch.findings];
  }

  async heal(secondsMax: number): Promise<string[]> {
    const clients = async () => {
      const all = await Promise.all(
        this.objects.clients().map(async (client) => {
          const view = await this.world.store.loadVolume(client.volumeId);
          return view === undefined ? [] : [client];
        }),
      );
      return all.flat();
    };
    return healWorld(this.world, clients, secondsMax);
  }

  async close(): Promise<void> {}

  private joinWorld({ name, zone, region, disks }: NodeGiven): void {
    this.world.addNode(name, {
      zone,
      region,
      disks: disks.map((disk, index) => ({
        name: diskNameAt(disk, index),
        sizeBytes: disk.size,
        type: disk.type,
      })),
    });
  }

  private async addNode(node: NodeGiven): Promise<void> {
    this.joinWorld(node);
    await this.world.run(2);
    await this.label(node);
  }

  /** User settings of a node and its disks, which agents don't report. */
  private async label({ name, tags, allowScheduling, cordoned, disks }: NodeGiven): Promise<void> {
    const { useCases, clusterId } = this.world;
    const nodeId = this.objects.nodeId(name);
    await patchNode(useCases, { clusterId, nodeId, patch: { tags, allowScheduling, cordoned } });
    for (const [index, disk] of disks.entries()) {
      const diskId = this.objects.diskId(`${name}/${diskNameAt(disk, index)}`);
      const { tags: diskTags, storageReserved: storageReservedBytes, allowScheduling: isOpen } = disk;
      const patch = { tags: diskTags, storageReservedBytes, allowScheduling: isOpen };
      await patchDisk(useCases, { clusterId, diskId, patch });
    }
  }

  private async giveVolume(volume: VolumeGiven, nodes: readonly NodeGiven[]): Promise<void> {
    const { attached, copiesOn, waits: _, ...spec } = volume;
    const closed = copiesOn === undefined ? [] : nodes.filter(({ name }) => !copiesOn.includes(name));
    for (const { name } of closed) await this.allow(name, false);
    for (const name of copiesOn ?? []) await this.allow(name, true);
    await this.objects.create(spec);
    if (attached !== undefined) {
      const volumeId = this.objects.client(volume.name).volumeId;
      await requestAttach(this.world.useCases, { volumeId, nodeId: this.objects.nodeId(attached) });
    }
    for (const { name, allowScheduling = true } of copiesOn === undefined ? [] : nodes) {
      await this.allow(name, allowScheduling);
    }
  }

  private async allow(name: string, allowScheduling: boolean): Promise<void> {
    const { useCases, clusterId } = this.world;
    await patchNode(useCases, { clusterId, nodeId: this.objects.nodeId(name), patch: { allowScheduling } });
  }

  private async awaitVolume(name: string): Promise<void> {
    const client = this.objects.client(name);
    const isReady = async () => {
      const { lifecycle, robustness } = (await client.view()).volume;
      const isSettled = lifecycle.state === 'attached' || lifecycle.state === 'detached';
      return isSettled && robustness === 'healthy';
    };
    if (await this.world.runUntil(isReady, PREPARE_SECONDS_MAX)) return;
    const { volume } = await client.view();
    const says = volume.conditions
      .map(({ type, status, message }) => `${type}=${status} ${message}`)
      .join('; ');
    throw new ScenarioError(
      `the given volume ${name} is ${volume.lifecycle.state} and ${volume.robustness}: ${says}`,
    );
  }
}
