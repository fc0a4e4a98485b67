/** Handlers of a scenario's steps on the simulated cluster: use cases for what users do, the world for what befalls it. */
import { acceptDisk } from '@holdfast/control/use-cases/accept-disk.js';
import { addDisk } from '@holdfast/control/use-cases/add-disk.js';
import { cancelRebuild } from '@holdfast/control/use-cases/cancel-rebuild.js';
import { cordonNode, uncordonNode } from '@holdfast/control/use-cases/cordon-node.js';
import { cancelDrain, drainNode } from '@holdfast/control/use-cases/drain-node.js';
import { forgetNode } from '@holdfast/control/use-cases/forget-node.js';
import { endMaintenance, startMaintenance } from '@holdfast/control/use-cases/maintain-node.js';
import { moveReplica } from '@holdfast/control/use-cases/move-replica.js';
import { patchDisk } from '@holdfast/control/use-cases/patch-disk.js';
import { patchNode } from '@holdfast/control/use-cases/patch-node.js';
import { patchVolume } from '@holdfast/control/use-cases/patch-volume.js';
import { setRecurringSnapshot } from '@holdfast/control/use-cases/recurring-snapshots.js';
import { removeDisk } from '@holdfast/control/use-cases/remove-disk.js';
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDelete } from '@holdfast/control/use-cases/request-delete.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestExpand } from '@holdfast/control/use-cases/request-expand.js';
import { requestOrphanRemoval } from '@holdfast/control/use-cases/request-orphan-removal.js';
import { requestReplicaRemoval } from '@holdfast/control/use-cases/request-replica-removal.js';
import { requestSalvage } from '@holdfast/control/use-cases/request-salvage.js';
import { requestVerify } from '@holdfast/control/use-cases/request-verify.js';
import {
  requestPurge,
  requestRevert,
  requestSnapshot,
  requestSnapshotDeletion,
} from '@holdfast/control/use-cases/snapshots.js';
import { tuneRebuild } from '@holdfast/control/use-cases/tune-rebuild.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { ScenarioError } from '@holdfast/scenario/driver.js';
import type { NodeGiven } from '@holdfast/scenario/given.js';
import type { StepHandlers } from '@holdfast/scenario/steps.js';
import { settleForDisk } from '../sim-client.js';
import { DAMAGE } from '../sim-copy.js';
import type { SimObjects } from './sim-objects.js';
import { changeSettings } from './sim-settings.js';

export function simSteps(objects: SimObjects, addNode: (node: NodeGiven) => Promise<void>): StepHandlers {
  const { world } = objects;
  return {
    ...faultSteps(objects),
    ...nodeSteps(objects, addNode),
    ...volumeSteps(objects),
    ...copySteps(objects),
    set: (wanted) => changeSettings(world, wanted),
    setQuota: async ({ of, ...limits }) =>
      world.store.setQuota(of, of === 'project' ? world.projectId : world.organizationId, limits),
  };
}

type FaultStep =
  | 'nodeDown'
  | 'nodeUp'
  | 'cutNode'
  | 'joinNode'
  | 'allNodesDown'
  | 'diskDown'
  | 'diskUp'
  | 'fillDisk'
  | 'workerDown'
  | 'backupDatabase'
  | 'restoreDatabase'
  | 'failRebuilds'
  | 'moveDisk'
  | 'cloneDisk'
  | 'saveDisk'
  | 'setBackDisk'
  | 'silenceAgent'
  | 'wakeAgent'
  | 'stopCopy'
  | 'loseCopy'
  | 'damageCopy';

/** Faults of the cluster. None of them goes through the product. */
function faultSteps(objects: SimObjects): Pick<StepHandlers, FaultStep> {
  const { world } = objects;
  return {
    nodeDown: async (node) => {
      await world.beforeFault(objects.node(node));
      objects.node(node).kill();
    },
    nodeUp: async (node) => {
      world.startNode(objects.node(node).name);
      world.watchDoubles();
    },
    cutNode: async (node) => {
      await world.beforeFault(objects.node(node));
      objects.node(node).isConnected = false;
    },
    joinNode: async (node) => {
      objects.node(node).isConnected = true;
      world.watchDoubles();
    },
    allNodesDown: async () => {
      for (const node of world.nodes) await world.beforeFault(node);
      for (const node of world.nodes) node.kill();
    },
    diskDown: async (disk) => {
      objects.disk(disk).isGone = true;
    },
    diskUp: async (disk) => {
      objects.disk(disk).isGone = false;
    },
    fillDisk: async ({ disk, available }) => {
      objects.disk(disk).availableBytes = available;
    },
    workerDown: (seconds) => world.runWithoutWorker(seconds),
    backupDatabase: async () => world.backUp(),
    restoreDatabase: async () => world.restore(),
    failRebuilds: async ({ volume, on, times = Number.POSITIVE_INFINITY }) => {
      const { id } = await objects.replica(volume, on);
      world.rebuildFaults.set(id, times);
    },
    moveDisk: async ({ disk, to }) => {
      // Connections to its copies end before they are somewhere else.
      const pulled = objects.disk(disk);
      pulled.isGone = true;
      await world.advance(1);
      objects.moveDisk(disk, to);
      pulled.isGone = false;
    },
    cloneDisk: async ({ disk, to, as }) => {
      objects.cloneDisk(disk, to, as);
      world.watchDoubles();
    },
    saveDisk: async (disk) => objects.saveDisk(disk),
    setBackDisk: async (disk) => {
      const node = objects.nodeWith(objects.disk(disk));
      if (node !== undefined) await world.beforeFault(node);
      await objects.setBackDisk(disk);
    },
    silenceAgent: async (node) => {
      await world.beforeFault(objects.node(node));
      objects.node(node).isSilent = true;
    },
    wakeAgent: async (node) => {
      objects.node(node).isSilent = false;
      world.watchDoubles();
    },
    stopCopy: async ({ volume, on }) => {
      const { id } = await objects.replica(volume, on);
      const engine = await objects.client(volume).engine();
      await engine?.drop(id, 'its process has ended');
      world.fleet.stir(objects.volumeId(volume));
    },
    loseCopy: async ({ volume, on, unlessLast = false }) => {
      const replica = await objects.replica(volume, on);
      if (unlessLast && !(await objects.hasSpare(volume, replica)))
        throw new ScenarioError(`the copy of volume ${volume} on ${on} is its last full one`);
      world.fleet.holderOf(replica)?.copies.delete(replica.id);
    },
    damageCopy: async ({ volume, on, snapshot }) => {
      const copy = objects.copyOf(await objects.replica(volume, on));
      const id = snapshot === undefined ? undefined : await objects.snapshotId(volume, snapshot);
      if (copy !== undefined && id !== undefined)
        copy.layers = copy.layers.map((layer) => (layer.id === id ? { ...layer, isDamaged: true } : layer));
      if (copy !== undefined && id === undefined) copy.writes.add(DAMAGE);
      world.fleet.stir(objects.volumeId(volume));
    },
  };
}

type NodeStep =
  | 'cordon'
  | 'uncordon'
  | 'drain'
  | 'cancelDrain'
  | 'startMaintenance'
  | 'endMaintenance'
  | 'patchNode'
  | 'patchDisk'
  | 'removeOrphan'
  | 'addNode'
  | 'addDisk'
  | 'removeNode'
  | 'forgetNode'
  | 'removeDisk'
  | 'acceptDisk';

function nodeSteps(
  objects: SimObjects,
  addNode: (node: NodeGiven) => Promise<void>,
): Pick<StepHandlers, NodeStep> {
  const { world } = objects;
  const { useCases, clusterId } = world;
  const key = (node: string) => ({ clusterId, nodeId: objects.nodeId(node) });
  return {
    cordon: (node) => cordonNode(useCases, key(node)),
    uncordon: (node) => uncordonNode(useCases, key(node)),
    drain: ({ node, policy }) => drainNode(useCases, { ...key(node), policy }),
    cancelDrain: (node) => cancelDrain(useCases, key(node)),
    startMaintenance: ({ node, for: seconds, reason = '' }) => {
      const until = new Date(world.clock.now().getTime() + seconds * 1000);
      return startMaintenance(useCases, { ...key(node), maintenance: { until, reason } });
    },
    endMaintenance: (node) => endMaintenance(useCases, key(node)),
    patchNode: ({ node, ...patch }) => patchNode(useCases, { ...key(node), patch }),
    patchDisk: ({ disk, storageReserved: storageReservedBytes, ...rest }) =>
      patchDisk(useCases, {
        clusterId,
        diskId: objects.diskId(disk),
        patch: { ...rest, storageReservedBytes },
      }),
    removeOrphan: async (node) => {
      const onNode = world.store.tables.orphans.by('node', objects.nodeId(node));
      const [oldest] = onNode.toSorted((a, b) => a.firstSeenAt.getTime() - b.firstSeenAt.getTime());
      if (oldest === undefined) throw new ScenarioError(`node ${node} has no orphan`);
      await requestOrphanRemoval(useCases, { orphanId: oldest.id });
    },
    addNode,
    addDisk: async ({ node, name, size, type, tags, storageReserved, allowScheduling }) => {
      const named = name ?? `disk-${objects.node(node).disks.length + 1}`;
      const disk = {
        path: `/disks/${named}`,
        name: named,
        type,
        sizeBytes: size,
        tags,
        allowScheduling: allowScheduling ?? true,
        storageReservedBytes: storageReserved ?? 0,
      };
      await addDisk(useCases, { ...key(node), disk });
      // Its agent reports every few seconds; here when it has news, or is made to.
      world.fleet.stirAll();
      await world.run(1);
    },
    removeNode: async (node) => {
      const result = world.store.deleteNode(objects.nodeId(node));
      if (result === 'gone')
        throw new StorageFault('node.not_found', { publicMessage: `there is no node ${node}` });
      if (result !== 'deleted')
        throw new StorageFault('node.in_use', { publicMessage: `node ${node} is in use: ${result}` });
    },
    forgetNode: ({ node, lose = [] }) =>
      forgetNode(useCases, {
        ...key(node),
        acceptedLosses: lose.map((volume) => objects.volumeId(volume)),
      }),
    acceptDisk: async (disk) => {
      const diskId = objects.diskId(disk);
      await acceptDisk(useCases, { clusterId, diskId });
      if (world.store.tables.disks.get(diskId)?.acceptedNodeId !== undefined)
        settleForDisk(objects.clients(), diskId, world);
      world.fleet.stirAll();
    },
    removeDisk: async (disk) => {
      const diskId = objects.diskId(disk);
      const orphans = [...world.store.tables.orphans.values()].filter((one) => one.diskId === diskId).length;
      await removeDisk(useCases, { clusterId, diskId, orphans });
      world.fleet.stirAll();
    },
  };
}

type VolumeStep =
  | 'createVolume'
  | 'patchVolume'
  | 'deleteVolume'
  | 'attach'
  | 'detach'
  | 'write'
  | 'expand'
  | 'cloneVolume'
  | 'takeSnapshot'
  | 'deleteSnapshot'
  | 'revert'
  | 'recurringSnapshot'
  | 'purge'
  | 'verify'
  | 'salvage';

function volumeSteps(objects: SimObjects): Pick<StepHandlers, VolumeStep> {
  const { useCases } = objects.world;
  const key = (volume: string) => ({ volumeId: objects.volumeId(volume) });
  const snapshotKey = async ({ volume, snapshot }: { volume: string; snapshot: string }) => ({
    ...key(volume),
    snapshotId: await objects.snapshotId(volume, snapshot),
  });
  return {
    createVolume: async (spec) => {
      await objects.create(spec);
    },
    patchVolume: ({ volume, ...patch }) => patchVolume(useCases, { ...key(volume), patch }),
    deleteVolume: (volume) => requestDelete(useCases, key(volume)),
    attach: ({ volume, node }) =>
      requestAttach(useCases, {
        ...key(volume),
        nodeId: node === undefined ? undefined : objects.nodeId(node),
      }),
    detach: ({ volume, force }) => requestDetach(useCases, { ...key(volume), force }),
    write: async (volume) => {
      await objects.client(volume).write();
    },
    expand: ({ volume, size }) => requestExpand(useCases, { ...key(volume), sizeBytes: size }),
    cloneVolume: async (ask) => {
      await objects.clone(ask);
    },
    takeSnapshot: async ({ volume, snapshot }) => {
      const snapshotId = await requestSnapshot(useCases, { ...key(volume), name: snapshot });
      objects.client(volume).noteSnapshot(snapshotId);
    },
    deleteSnapshot: async (ask) => requestSnapshotDeletion(useCases, await snapshotKey(ask)),
    revert: async (ask) => {
      await requestRevert(useCases, await snapshotKey(ask));
      await objects.client(ask.volume).revert();
    },
    recurringSnapshot: ({ volume, ...schedule }) =>
      setRecurringSnapshot(useCases, { ...key(volume), ...schedule }),
    purge: (volume) => requestPurge(useCases, key(volume)),
    verify: (volume) => requestVerify(useCases, key(volume)),
    salvage: async (volume) => {
      await requestSalvage(useCases, { ...key(volume), replicaIds: [] });
      // The user goes on with copies that may lack writes which others hold.
      objects.client(volume).settleFor();
    },
  };
}

type CopyStep = 'deleteReplica' | 'moveReplica' | 'cancelRebuild' | 'pauseRebuild' | 'resumeRebuild';

function copySteps(objects: SimObjects): Pick<StepHandlers, CopyStep> {
  const { useCases } = objects.world;
  const rebuildKey = async (volume: string) => ({
    volumeId: objects.volumeId(volume),
    rebuildId: (await objects.rebuild(volume)).id,
  });
  return {
    deleteReplica: async ({ volume, on }) => {
      const { id } = await objects.replica(volume, on);
      await requestReplicaRemoval(useCases, { volumeId: objects.volumeId(volume), replicaId: id });
    },
    moveReplica: async ({ volume, on, to }) => {
      const { id: replicaId } = await objects.replica(volume, on);
      const place =
        to?.includes('/') === true
          ? { diskId: objects.diskId(to) }
          : { nodeId: to === undefined ? undefined : objects.nodeId(to) };
      await moveReplica(useCases, { volumeId: objects.volumeId(volume), replicaId, ...place });
    },
    cancelRebuild: async (volume) => cancelRebuild(useCases, await rebuildKey(volume)),
    pauseRebuild: async (volume) => tuneRebuild(useCases, { ...(await rebuildKey(volume)), paused: true }),
    resumeRebuild: async (volume) => tuneRebuild(useCases, { ...(await rebuildKey(volume)), paused: false }),
  };
}
