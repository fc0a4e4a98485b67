/**
 * Randomized run of a simulated cluster: volumes with users on a cluster whose nodes die, are cut off and come back
 * while the worker dies, loses answers and wake-ups. Then calm, and everything has to come right. A failing seed
 * replays the same run.
 */
import { cancelRebuild } from '@holdfast/control/use-cases/cancel-rebuild.js';
import { createVolume } from '@holdfast/control/use-cases/create-volume.js';
import { patchDisk } from '@holdfast/control/use-cases/patch-disk.js';
import { type NodeSpecPatch, patchNode } from '@holdfast/control/use-cases/patch-node.js';
import { setRecurringSnapshot } from '@holdfast/control/use-cases/recurring-snapshots.js';
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestExpand } from '@holdfast/control/use-cases/request-expand.js';
import { requestReplicaRemoval } from '@holdfast/control/use-cases/request-replica-removal.js';
import {
  requestPurge,
  requestSnapshot,
  requestSnapshotDeletion,
} from '@holdfast/control/use-cases/snapshots.js';
import { GIB, MIB } from '@holdfast/core/model/bytes.js';
import { isFault } from '@holdfast/core/model/faults.js';
import { isActiveRebuild } from '@holdfast/core/model/rebuild.js';
import { checkWorld } from './check-world.js';
import { type EffectFault, NO_FAULTS } from './faults.js';
import { SimClient } from './sim-client.js';
import { World } from './world.js';

const NODES = 5;
const VOLUMES = 3;
/** Long enough for the longest pause after failed rebuilds and for a replacement after the wait. */
const CALM_SECONDS = 900;
const EMPTIED = { allowScheduling: false, evictionRequested: true };
const OPEN_DISK = { allowScheduling: true };
const OPEN_NODE = { allowScheduling: true, evictionRequested: false, cordoned: false };
const EFFECT_FAULTS: readonly EffectFault[] = ['die-before', 'die-after', 'lost-before', 'lost-after'];

export type ChaosResult = { findings: string[]; acknowledged: number };

export async function runChaos(seed: number, steps: number): Promise<ChaosResult> {
  const chaos = new Chaos(seed);
  await chaos.prepare();
  for (let step = 0; step < steps; step += 1) await chaos.disturb();
  await chaos.calmDown();
  return chaos.result();
}

class Chaos {
  private readonly world: World;
  private readonly clients: SimClient[] = [];
  private readonly findings = new Set<string>();

  constructor(seed: number) {
    this.world = new World(seed);
  }

  async prepare(): Promise<void> {
    const { world } = this;
    for (let index = 0; index < NODES; index += 1) {
      world.addNode(`node-${index + 1}`, { zone: `zone-${index % 3}` });
    }
    await world.run(2);
    world.store.setSetting(world.clusterId, 'replica-replenishment-wait-interval', world.random.below(60));
    world.store.setSetting(world.clusterId, 'concurrent-replica-rebuild-per-node-limit', 1);
    // The worker's own background tasks, beside what is asked of it.
    world.store.setSetting(world.clusterId, 'offline-replica-rebuilding', world.random.chance(0.5));
    world.store.setSetting(world.clusterId, 'snapshot-data-integrity-cronjob', '* * * * *');
    const { organizationId, projectId, clusterId } = world;
    for (let index = 0; index < VOLUMES; index += 1) {
      const input = { organizationId, projectId, clusterId, name: `volume-${index}`, sizeBytes: GIB };
      const { volumeId } = await createVolume(world.useCases, {
        ...input,
        numberOfReplicas: 2 + world.random.below(2),
      });
      this.clients.push(new SimClient(world, volumeId));
      const minutely = { volumeId, name: 'minutely', cron: '* * * * *', retain: 2 };
      if (world.random.chance(0.5)) await setRecurringSnapshot(world.useCases, minutely);
    }
    await world.run(1);
    world.faults = {
      onEffect: () => (world.random.chance(0.05) ? (world.random.pick(EFFECT_FAULTS) ?? 'none') : 'none'),
      losesWakeUp: () => world.random.chance(0.1),
      runsTwice: () => world.random.chance(0.2),
    };
  }

  async disturb(): Promise<void> {
    const { random } = this.world;
    const act = random.pick([
      () => this.killNode(),
      () => this.startNode(),
      () => this.cutNode(),
      () => this.joinNode(),
      () => this.attachSome(),
      () => this.attachSome(),
      () => this.detachSome(),
      () => this.removeSome(),
      () => this.cancelSome(),
      () => this.loseAllButOne(),
      () => this.switchNode(),
      () => this.switchDisk(),
      () => this.takeSnapshot(),
      () => this.deleteSnapshot(),
      () => this.growOrPurge(),
    ]);
    await tolerated(async () => act?.());
    for (const client of this.clients) await client.write();
    await this.world.run(1 + random.below(15));
    for (const finding of await checkWorld(this.world)) this.findings.add(finding);
  }

  async calmDown(): Promise<void> {
    const { world } = this;
    world.faults = NO_FAULTS;
    for (const node of world.nodes) {
      node.isConnected = true;
      if (!node.isAlive) world.startNode(node.name);
    }
    await this.openAll();
    await world.run(15);
    for (const client of this.clients) {
      await tolerated(() => requestAttach(world.useCases, { volumeId: client.volumeId }));
    }
    await world.runUntil(() => this.areAllWell(), CALM_SECONDS);
  }

  async result(): Promise<ChaosResult> {
    for (const finding of await checkWorld(this.world)) this.findings.add(finding);
    let acknowledged = 0;
    for (const client of this.clients) {
      const { volume } = await client.view();
      acknowledged += client.acknowledged.size;
      if (!(await isWell(client))) {
        const attention = volume.attention?.message ?? 'no attention';
        this.findings.add(`${volume.name} ends ${volume.lifecycle.state} ${volume.robustness}: ${attention}`);
      }
      const missing = await client.missing();
      if (missing.length > 0)
        this.findings.add(`${volume.name} lost acknowledged writes ${missing.join(', ')}`);
    }
    return { findings: [...this.findings], acknowledged };
  }

  private async areAllWell(): Promise<boolean> {
    for (const client of this.clients) {
      if (!(await isWell(client))) return false;
    }
    return true;
  }

  private async killNode(): Promise<void> {
    this.world.random.pick(this.world.nodes)?.kill();
  }

  /**
   * The cruellest order of deaths: one node goes, the others acknowledge writes without it and die before the
   * worker has heard of it, and only the first comes back. No engine may then believe its copies.
   */
  private async loseAllButOne(): Promise<void> {
    const survivor = this.world.random.pick(this.world.nodes);
    survivor?.kill();
    for (const client of this.clients) await client.write();
    for (const node of this.world.nodes) node.kill();
    if (survivor !== undefined) this.world.startNode(survivor.name);
    await this.world.run(12);
    for (const { volumeId } of this.clients) {
      await requestDetach(this.world.useCases, { volumeId, force: true });
      await tolerated(() => requestAttach(this.world.useCases, { volumeId, nodeId: survivor?.nodeId }));
    }
  }

  private async startNode(): Promise<void> {
    const dead = this.world.random.pick(this.world.nodes.filter(({ isAlive }) => !isAlive));
    if (dead !== undefined) this.world.startNode(dead.name);
  }

  private async cutNode(): Promise<void> {
    const node = this.world.random.pick(this.world.nodes);
    if (node !== undefined) node.isConnected = false;
  }

  private async joinNode(): Promise<void> {
    for (const node of this.world.nodes) node.isConnected = true;
  }

  /** Users cordon, close and empty nodes, and open them again. */
  private async switchNode(): Promise<void> {
    const { world } = this;
    const nodeId = world.random.pick(world.nodes)?.nodeId;
    const patch = world.random.pick<NodeSpecPatch>([
      OPEN_NODE,
      { cordoned: true },
      { allowScheduling: false },
      EMPTIED,
    ]);
    if (nodeId === undefined || patch === undefined) return;
    await patchNode(world.useCases, { clusterId: world.clusterId, nodeId, patch });
  }

  private async switchDisk(): Promise<void> {
    const { world } = this;
    const disk = world.random.pick((await world.store.loadFleet(world.clusterId)).disks);
    // A disk is not emptied here: the replacement may share its node, and if users then call the eviction off, two
    // copies stay there lawfully, which the check of domains can't tell from a wrong placement.
    const patch = world.random.pick([OPEN_DISK, { allowScheduling: false }]);
    if (disk === undefined || patch === undefined) return;
    await patchDisk(world.useCases, { clusterId: world.clusterId, diskId: disk.id, patch });
  }

  private async openAll(): Promise<void> {
    const { world } = this;
    const { clusterId } = world;
    const { nodes, disks } = await world.store.loadFleet(clusterId);
    for (const { id } of nodes) await patchNode(world.useCases, { clusterId, nodeId: id, patch: OPEN_NODE });
    for (const { id } of disks) await patchDisk(world.useCases, { clusterId, diskId: id, patch: OPEN_DISK });
  }

  private async attachSome(): Promise<void> {
    const client = this.world.random.pick(this.clients);
    const nodeId = this.world.random.chance(0.5)
      ? this.world.random.pick(this.world.nodes)?.nodeId
      : undefined;
    if (client !== undefined) await requestAttach(this.world.useCases, { volumeId: client.volumeId, nodeId });
  }

  private async detachSome(): Promise<void> {
    const client = this.world.random.pick(this.clients);
    const force = this.world.random.chance(0.5);
    if (client !== undefined) await requestDetach(this.world.useCases, { volumeId: client.volumeId, force });
  }

  private async takeSnapshot(): Promise<void> {
    const { random, useCases } = this.world;
    const client = random.pick(this.clients);
    const name = `s-${random.below(5)}`;
    if (client !== undefined) await requestSnapshot(useCases, { volumeId: client.volumeId, name });
  }

  private async deleteSnapshot(): Promise<void> {
    const { random, useCases } = this.world;
    const client = random.pick(this.clients);
    const snapshot = random.pick((await client?.view())?.snapshots ?? []);
    if (client === undefined || snapshot === undefined) return;
    await requestSnapshotDeletion(useCases, { volumeId: client.volumeId, snapshotId: snapshot.id });
  }

  private async growOrPurge(): Promise<void> {
    const { random, useCases } = this.world;
    const client = random.pick(this.clients);
    if (client === undefined) return;
    const { volumeId } = client;
    const { sizeBytes } = (await client.view()).volume.spec;
    if (random.chance(0.5)) await requestPurge(useCases, { volumeId });
    else await requestExpand(useCases, { volumeId, sizeBytes: sizeBytes + MIB });
  }

  private async cancelSome(): Promise<void> {
    const client = this.world.random.pick(this.clients);
    const rebuild = (await client?.view())?.rebuilds.find(isActiveRebuild);
    if (client === undefined || rebuild === undefined) return;
    await cancelRebuild(this.world.useCases, { volumeId: client.volumeId, rebuildId: rebuild.id });
  }

  private async removeSome(): Promise<void> {
    const client = this.world.random.pick(this.clients);
    const replicas = (await client?.view())?.replicas ?? [];
    const replica = this.world.random.pick(replicas);
    if (client === undefined || replica === undefined) return;
    await requestReplicaRemoval(this.world.useCases, { volumeId: client.volumeId, replicaId: replica.id });
  }
}

async function isWell(client: SimClient): Promise<boolean> {
  const { volume, rebuilds, snapshots } = await client.view();
  const isBusy =
    volume.task !== undefined ||
    rebuilds.some(({ state }) => state === 'queued' || state === 'running') ||
    snapshots.some(({ state }) => state === 'creating' || state === 'removing');
  return volume.lifecycle.state === 'attached' && volume.robustness === 'healthy' && !isBusy;
}

/** Users are refused now and then; that is part of the run. */
async function tolerated(act: () => Promise<void> | undefined): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isFault(error)) throw error;
  }
}
