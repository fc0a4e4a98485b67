/**
 * Planner of attachments: attach, detach, and what follows when the engine is lost.
 *
 * | wanted     | granted node | engine                     | step |
 * |------------|--------------|----------------------------|------|
 * | detached   | some         | any                        | stop it, forget the node |
 * | attached   | none         | –                          | grant: choose the node, new epoch |
 * | attached   | some         | not started                | start it on the current copies |
 * | attached   | alive        | gone (new boot) or stopped | grant the same node again, new epoch |
 * | attached   | alive        | not reported for too long  | grant the same node again, new epoch |
 * | attached   | dead         | unknown                    | nothing: a user decides, and the status says so |
 *
 * A crash between grant and start repeats the start at the same epoch, which answers as the first time. An engine that
 * was started before a worker died, and not recorded, is stopped by a detach, because the granted node is recorded first.
 */
import { compareIds, type NodeId } from '../model/ids.js';
import { isNodeReady, type StorageNode } from '../model/node.js';
import { isHealthy } from '../model/replica.js';
import { mayServeUsers, servingNodeIds } from '../model/strict-locality.js';
import type { VolumeView } from '../model/views.js';
import type { Attention } from '../model/volume.js';
import { isOnReadyNode, nodeById, nodeName } from '../model/volume-facts.js';
import { grantOf, holderOf, isDetachForced, isRepairing, requestOf } from '../model/volume-lifecycle.js';
import { fillOf } from '../model/volume-task.js';
import type { Step } from './step.js';

/** An engine is in its agent's report at once; this is for one heartbeat that was on its way when it started. */
const FIRST_REPORT_MS = 5_000;
/** How long an engine may then be missing: several heartbeats, so that one odd report cuts no client off. */
const MISSING_MS_MAX = 10_000;
const ENGINE_MISSING = 'EngineMissing';

type CopiesView = Pick<VolumeView, 'volume' | 'replicas' | 'fleet'>;

export function planDetachment({ volume, fleet }: VolumeView): Step | undefined {
  const { state } = volume.lifecycle;
  const nodeId = holderOf(volume);
  if (nodeId === undefined || (state !== 'detaching' && state !== 'deleting')) return undefined;

  const node = nodeById(fleet, nodeId);
  const isAlive = node !== undefined && isNodeReady(node);
  const mayFail = isDetachForced(volume);
  if (!isAlive && !mayFail) return undefined;
  return { kind: 'stop-engine', nodeId, epoch: volume.epoch, askAgent: isAlive, mayFail };
}

export function planAttachment(view: VolumeView, now: Date): Step | undefined {
  const { volume, fleet } = view;
  const { lifecycle } = volume;
  if (requestOf(volume) === undefined || lifecycle.state === 'detaching') return undefined;
  const grant = grantOf(volume);
  if (grant === undefined) return planGrant(view);

  const node = nodeById(fleet, grant.nodeId);
  if (node === undefined || !isNodeReady(node)) return undefined;
  // An epoch belongs to one life of the agent. Also a start that no worker has recorded may have happened in the life
  // before, so only a new epoch is sure to have no other engine.
  if (node.bootId !== grant.bootId) {
    return { kind: 'grant-attachment', nodeId: node.id, why: `the agent on ${node.name} was restarted` };
  }
  if (lifecycle.state !== 'attached') return { kind: 'start-engine', nodeId: node.id };

  const { engine } = view;
  if (engine?.report.state === 'stopped') {
    const why = `the engine on ${node.name} stopped: ${engine.report.reason}`;
    return { kind: 'grant-attachment', nodeId: node.id, why };
  }
  const missing = volume.attention?.code === ENGINE_MISSING ? volume.attention : undefined;
  if (missing === undefined || missingEngine(view, now) === undefined) return undefined;
  if (now.getTime() - missing.since.getTime() < MISSING_MS_MAX) return undefined;
  return { kind: 'grant-attachment', nodeId: node.id, why: missing.message };
}

/**
 * An attached volume of whose engine its agent, which is alive and was not restarted, says nothing. It is shown first,
 * which also notes since when it is so; if it stays so, the attachment is granted anew.
 */
export function missingEngine(view: VolumeView, now: Date): Omit<Attention, 'since'> | undefined {
  const { volume, fleet, engine } = view;
  const { lifecycle } = volume;
  if (lifecycle.state !== 'attached' || engine !== undefined) return undefined;
  const { nodeId, bootId } = lifecycle.grant;
  const node = nodeById(fleet, nodeId);
  if (node === undefined || !isNodeReady(node) || node.bootId !== bootId) return undefined;
  if (now.getTime() - engineSeenAtMs(view) < FIRST_REPORT_MS) return undefined;
  return {
    code: ENGINE_MISSING,
    message: `the agent on ${node.name} does not report the engine that it should run`,
    cures: ['wait: the volume is soon attached anew on that node'],
  };
}

/** When an engine that no report shows counts as missing, and when its attachment is then granted anew. */
export function attachmentTimes(view: VolumeView): Date[] {
  const { volume, engine } = view;
  if (volume.lifecycle.state !== 'attached' || engine !== undefined) return [];
  const missing = volume.attention?.code === ENGINE_MISSING ? volume.attention : undefined;
  return [
    new Date(engineSeenAtMs(view) + FIRST_REPORT_MS),
    ...(missing === undefined ? [] : [new Date(missing.since.getTime() + MISSING_MS_MAX)]),
  ];
}

/** The start of an engine makes its copies healthy, and so does every rebuild: it ran then. */
function engineSeenAtMs({ replicas }: VolumeView): number {
  return Math.max(
    0,
    ...replicas.map(({ mode, lastHealthyAt }) => (mode === 'RW' ? (lastHealthyAt?.getTime() ?? 0) : 0)),
  );
}

function planGrant(view: VolumeView): Step | undefined {
  if (attachObstacle(view) !== undefined) return undefined;
  const nodeId = attachNode(view);
  return nodeId === undefined
    ? undefined
    : { kind: 'grant-attachment', nodeId, why: 'an attach was requested' };
}

/** Reason why a wanted attachment can't begin yet; `undefined` when there is none. */
export function attachObstacle(
  view: CopiesView,
): { code: string; message: string; cures: string[] } | undefined {
  const { volume, replicas, fleet } = view;
  const placedCount = replicas.filter(({ diskId }) => diskId !== undefined).length;
  const needsAll = !fleet.settings['allow-volume-creation-with-degraded-availability'];
  if (needsAll && volume.epoch === 0 && placedCount < volume.spec.numberOfReplicas) {
    return {
      code: 'ReplicasUnplaced',
      message: `only ${placedCount} of ${volume.spec.numberOfReplicas} replicas have a place`,
      cures: ['make room', 'set allow-volume-creation-with-degraded-availability to true'],
    };
  }
  if (!replicas.some(({ provisioned }) => provisioned)) {
    return {
      code: 'NoCopies',
      message: 'no copy of the volume exists yet',
      cures: ['make room for its replicas', 'start the agents of the nodes they are placed on'],
    };
  }
  if (attachNode(view) !== undefined) return undefined;
  const wanted = requestOf(volume)?.nodeId;
  if (wanted !== undefined && !mayServeUsers(view, wanted)) return notLocal(view, wanted);
  const away = (wanted === undefined ? (servingNodeIds(view) ?? []) : []).filter(
    (id) => !isReady(nodeById(fleet, id)),
  );
  if (away.length > 0) return awayFromLocal(view, away);
  const closed = fleet.nodes.filter((node) => isNodeReady(node) && isClosedTo(volume, node, fleet));
  const names = closed.map(({ name }) => name).join(', ');
  return {
    code: 'NoNodeToAttach',
    message:
      closed.length === 0
        ? 'no node that could serve the volume is ready'
        : `no node that could serve the volume is ready and not cordoned: volumes are detached from ${names}`,
    cures: [
      ...closed.map(({ name }) => `uncordon ${name}`),
      ...(closed.length === 0 ? [] : [`set ${DETACHES_WHEN_CORDONED} to false`]),
      'start the agent of a node that holds a copy',
    ],
  };
}

/** The nodes of the full copies, where strict locality lets no other node serve it. */
function awayFromLocal(
  { volume, fleet }: CopiesView,
  away: readonly NodeId[],
): { code: string; message: string; cures: string[] } {
  const names = away.map((id) => nodeName(fleet, id));
  return {
    code: 'NoNodeToAttach',
    message: `volume ${volume.name} has strict data locality, and its copy is on ${names.join(', ')}, which does not answer`,
    cures: names.map((name) => `start the agent on ${name}`),
  };
}

function isReady(node: StorageNode | undefined): boolean {
  return node !== undefined && isNodeReady(node);
}

function notLocal(view: CopiesView, wanted: NodeId): { code: string; message: string; cures: string[] } {
  const { volume, fleet } = view;
  const serving = (servingNodeIds(view) ?? []).map((id) => nodeName(fleet, id)).join(', ');
  return {
    code: 'NoNodeToAttach',
    message: `volume ${volume.name} has strict data locality, and its copy is on ${serving}, not on ${nodeName(fleet, wanted)}`,
    cures: [`detach it, and attach it on ${serving}`],
  };
}

/**
 * The requested node, or else, of the ready nodes that hold a full copy, the one with the smallest id: reads are local there. If no
 * copy counts as full, any copy's node will do: the copies' own records decide at the start.
 *
 * A drained node is to lose its engines, so it comes last; copies can be reached from any other node too. A cordoned one, which may
 * be about to be drained, comes after those that are not, and is excluded if a setting has volumes detached from such nodes.
 */
export function attachNode(view: CopiesView): NodeId | undefined {
  const { volume, fleet } = view;
  const wanted = requestOf(volume)?.nodeId;
  if (wanted !== undefined) {
    const node = nodeById(fleet, wanted);
    const isOpen = node !== undefined && isNodeReady(node) && !isClosedTo(volume, node, fleet);
    // The copy may have moved since the request was accepted.
    return isOpen && mayServeUsers(view, wanted) ? wanted : undefined;
  }
  const ofCopies = nodesOfCopies(view);
  // The full copy of a strictly local volume may be on an unreachable node: it is waited for, not passed over.
  const holders = ofCopies.filter(
    (id) => !isClosedTo(volume, nodeById(fleet, id), fleet) && mayServeUsers(view, id),
  );
  const isStaying = (id: NodeId) => nodeById(fleet, id)?.drain === undefined;
  const stayingHolders = holders.filter(isStaying);
  const staying = stayingHolders.find((id) => nodeById(fleet, id)?.cordoned === false) ?? stayingHolders[0];
  if (staying !== undefined || ofCopies.length === 0 || volume.spec.dataLocality === 'strict-local')
    return staying ?? holders[0];
  const other = fleet.nodes.find((node) => isNodeReady(node) && isStaying(node.id) && !node.cordoned);
  return other?.id ?? holders[0];
}

const DETACHES_WHEN_CORDONED = 'detach-manually-attached-volumes-when-cordoned';

/** Would a user's attachment on the node be ended at once (`plan-cordon-detachment.ts`)? The worker's own are not. */
function isClosedTo(
  volume: CopiesView['volume'],
  node: StorageNode | undefined,
  { settings }: CopiesView['fleet'],
): boolean {
  if (!settings[DETACHES_WHEN_CORDONED] || node === undefined || !node.cordoned) return false;
  return !isRepairing(volume) && fillOf(volume) === undefined;
}

function nodesOfCopies({ replicas, fleet }: CopiesView): NodeId[] {
  const reachable = replicas.filter((replica) => replica.provisioned && isOnReadyNode(replica, fleet));
  const healthy = reachable.filter(isHealthy);
  // One that is to be removed goes as soon as an engine runs.
  const staying = healthy.filter(({ intent }) => intent !== 'remove');
  return ([staying, healthy].find(({ length }) => length > 0) ?? reachable)
    .flatMap(({ nodeId }) => (nodeId === undefined ? [] : [nodeId]))
    .sort(compareIds);
}
