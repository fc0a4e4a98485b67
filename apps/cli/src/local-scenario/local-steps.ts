/** Handlers of a scenario's steps on the local stack: the API for what users do, signals for what befalls its nodes. */
import { ScenarioError } from '@holdfast/scenario/driver.js';
import type { NewVolume } from '@holdfast/scenario/given.js';
import type { StepHandlers, StepName } from '@holdfast/scenario/steps.js';
import { asked, done, type LocalCluster } from './local-cluster.js';
import type { LocalWriter } from './local-writer.js';
import { orderAgent } from './order-agent.js';

const NODE = '/clusters/{clusterId}/nodes/{nodeId}';
const DISK = '/clusters/{clusterId}/nodes/{nodeId}/disks/{diskId}';
const VOLUME = '/clusters/{clusterId}/volumes/{volumeId}';

export type ChangeSettings = (wanted: StepSettings) => Promise<void>;
type StepSettings = Readonly<Record<string, string | number | boolean>>;

export function localSteps(
  cluster: LocalCluster,
  writer: LocalWriter,
  changeSettings: ChangeSettings,
): StepHandlers {
  return {
    ...impossibleSteps(),
    ...nodeSteps(cluster),
    ...volumeSteps(cluster, writer),
    ...copySteps(cluster),
    set: changeSettings,
  };
}

/** Steps that a stack on one machine can't carry out. */
function impossibleSteps() {
  const refuse = (step: StepName) => async (): Promise<never> => {
    throw new ScenarioError(`${step} can't be done on the local stack: run it in the simulator`);
  };
  return {
    cutNode: refuse('cutNode'),
    joinNode: refuse('joinNode'),
    diskDown: refuse('diskDown'),
    diskUp: refuse('diskUp'),
    fillDisk: refuse('fillDisk'),
    workerDown: refuse('workerDown'),
    backupDatabase: refuse('backupDatabase'),
    restoreDatabase: refuse('restoreDatabase'),
    failRebuilds: refuse('failRebuilds'),
    moveDisk: refuse('moveDisk'),
    cloneDisk: refuse('cloneDisk'),
    saveDisk: refuse('saveDisk'),
    setBackDisk: refuse('setBackDisk'),
    acceptDisk: refuse('acceptDisk'),
    silenceAgent: refuse('silenceAgent'),
    wakeAgent: refuse('wakeAgent'),
    stopCopy: refuse('stopCopy'),
    loseCopy: refuse('loseCopy'),
    damageCopy: refuse('damageCopy'),
    removeOrphan: refuse('removeOrphan'),
    addNode: refuse('addNode'),
    addDisk: refuse('addDisk'),
    removeNode: refuse('removeNode'),
    forgetNode: refuse('forgetNode'),
    removeDisk: refuse('removeDisk'),
    recurringSnapshot: refuse('recurringSnapshot'),
    // A quota holds for volumes that the scenario has not made, too.
    setQuota: refuse('setQuota'),
  } satisfies Partial<StepHandlers>;
}

type NodeStep =
  | 'nodeDown'
  | 'nodeUp'
  | 'allNodesDown'
  | 'cordon'
  | 'uncordon'
  | 'drain'
  | 'cancelDrain'
  | 'startMaintenance'
  | 'endMaintenance'
  | 'patchNode'
  | 'patchDisk';

function nodeSteps(cluster: LocalCluster): Pick<StepHandlers, NodeStep> {
  const { api, clusterId } = cluster;
  const at = (name: string) => ({ params: { path: { clusterId, nodeId: cluster.node(name).id } } });
  return {
    // The agent's process group holds all engines and replicas of its node.
    nodeDown: async (name) => kill(cluster.agent(name).pid),
    nodeUp: async (name) => {
      await orderAgent(cluster.local.controlSocket, cluster.agent(name).name);
    },
    allNodesDown: async () => {
      for (const { pid } of cluster.local.agents) kill(pid);
    },
    cordon: (name) => done(api.POST(`${NODE}/cordon`, { ...at(name), body: {} })),
    uncordon: (name) => done(api.POST(`${NODE}/uncordon`, { ...at(name), body: {} })),
    drain: ({ node, policy }) => cluster.actOnNode(node, 'drain', policy === undefined ? {} : { policy }),
    cancelDrain: (node) => cluster.actOnNode(node, 'cancel-drain', {}),
    startMaintenance: ({ node, for: seconds, reason = '' }) => {
      const until = new Date(Date.now() + seconds * 1000).toISOString();
      return done(api.POST(`${NODE}/maintenance`, { ...at(node), body: { until, reason } }));
    },
    endMaintenance: (name) => done(api.POST(`${NODE}/end-maintenance`, { ...at(name), body: {} })),
    patchNode: ({ node, ...body }) => done(api.PATCH(NODE, { ...at(node), body: defined(body) })),
    patchDisk: ({ disk, ...body }) => {
      const { id: diskId, nodeId } = cluster.disk(disk);
      const params = { path: { clusterId, nodeId, diskId } };
      return done(api.PATCH(DISK, { params, body: defined(body) }));
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
  | 'takeSnapshot'
  | 'cloneVolume'
  | 'deleteSnapshot'
  | 'revert'
  | 'purge'
  | 'verify'
  | 'salvage';

function volumeSteps(cluster: LocalCluster, writer: LocalWriter): Pick<StepHandlers, VolumeStep> {
  const { api, clusterId } = cluster;
  const at = (name: string) => ({ params: { path: { clusterId, volumeId: cluster.volumeId(name) } } });
  return {
    createVolume: (spec) => createVolume(cluster, spec),
    patchVolume: ({ volume, ...body }) => done(api.PATCH(VOLUME, { ...at(volume), body: defined(body) })),
    deleteVolume: (volume) => done(api.DELETE(VOLUME, at(volume))),
    attach: ({ volume, node }) => {
      const body = node === undefined ? {} : { nodeId: cluster.node(node).id };
      return done(api.POST(`${VOLUME}/attach`, { ...at(volume), body }));
    },
    detach: ({ volume, force = false }) =>
      done(api.POST(`${VOLUME}/detach`, { ...at(volume), body: { force } })),
    write: async (volume) => writer.write(await cluster.volume(volume)),
    expand: ({ volume, size }) => done(api.POST(`${VOLUME}/expand`, { ...at(volume), body: { size } })),
    takeSnapshot: ({ volume, snapshot: name }) =>
      done(api.POST(`${VOLUME}/snapshots`, { ...at(volume), body: { name } })),
    cloneVolume: async ({ volume, snapshot, name }) => {
      const snapshotId = await cluster.snapshotId(volume, snapshot);
      const { id } = await asked(api.POST(`${VOLUME}/clone`, { ...at(volume), body: { snapshotId, name } }));
      cluster.volumeIds.set(name, id);
    },
    deleteSnapshot: async ({ volume, snapshot }) => {
      const snapshotId = await cluster.snapshotId(volume, snapshot);
      const path = { ...at(volume).params.path, snapshotId };
      await done(api.DELETE(`${VOLUME}/snapshots/{snapshotId}`, { params: { path } }));
    },
    revert: async ({ volume, snapshot }) => {
      const snapshotId = await cluster.snapshotId(volume, snapshot);
      await done(api.POST(`${VOLUME}/revert`, { ...at(volume), body: { snapshotId } }));
      writer.forget(cluster.volumeId(volume));
    },
    purge: (volume) => done(api.POST(`${VOLUME}/snapshots/purge`, { ...at(volume), body: {} })),
    verify: (volume) => done(api.POST(`${VOLUME}/verify`, { ...at(volume), body: {} })),
    salvage: (volume) => done(api.POST(`${VOLUME}/salvage`, { ...at(volume), body: { replicaIds: [] } })),
  };
}

export async function createVolume(cluster: LocalCluster, spec: NewVolume): Promise<void> {
  const { api, clusterId } = cluster;
  const params = { path: { clusterId } };
  const { topologyRequirement: terms, ...rest } = spec;
  const topology = terms === undefined ? {} : { topologyRequirement: terms.map((term) => defined(term)) };
  const body = { ...defined(rest), ...topology };
  const { id } = await asked(api.POST('/clusters/{clusterId}/volumes', { params, body }));
  cluster.volumeIds.set(spec.name, id);
}

type CopyStep = 'deleteReplica' | 'moveReplica' | 'cancelRebuild' | 'pauseRebuild' | 'resumeRebuild';

function copySteps(cluster: LocalCluster): Pick<StepHandlers, CopyStep> {
  const { api, clusterId } = cluster;
  const tune = (verb: 'cancel' | 'pause' | 'resume') => async (volume: string) => {
    const { id: rebuildId } = await cluster.rebuild(volume);
    const params = { path: { clusterId, rebuildId } };
    await done(api.POST(`/clusters/{clusterId}/rebuilds/{rebuildId}/${verb}`, { params, body: {} }));
  };
  return {
    deleteReplica: async ({ volume, on }) => {
      const { id: replicaId, volumeId } = await cluster.replica(volume, on);
      const params = { path: { clusterId, volumeId, replicaId } };
      await done(api.DELETE(`${VOLUME}/replicas/{replicaId}`, { params }));
    },
    moveReplica: async ({ volume, on, to }) => {
      const { id: replicaId, volumeId } = await cluster.replica(volume, on);
      const params = { path: { clusterId, volumeId, replicaId } };
      const body =
        to?.includes('/') === true
          ? { diskId: cluster.disk(to).id }
          : to === undefined
            ? {}
            : { nodeId: cluster.node(to).id };
      await done(api.POST(`${VOLUME}/replicas/{replicaId}/move`, { params, body }));
    },
    cancelRebuild: tune('cancel'),
    pauseRebuild: tune('pause'),
    resumeRebuild: tune('resume'),
  };
}

/** A dead group is no error: its death was wanted. */
function kill(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** The object without undefined fields, which bodies of the API don't have. */
function defined<T extends object>(value: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  // Only fields that the type lets be left out are left out.
  return Object.fromEntries(entries) as { [Key in keyof T]: Exclude<T[Key], undefined> };
}
