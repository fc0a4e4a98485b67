/**
 * Attaching, letting go, and what happens when the engine is lost.
 *
 * | wanted     | granted node | engine                     | step |
 * |------------|--------------|----------------------------|------|
 * | nobody     | some         | any                        | stop it, forget the node |
 * | attached   | none         | –                          | grant: choose the node, new epoch |
 * | attached   | some         | not started                | start it on the current copies |
 * | attached   | alive        | gone (new boot) or stopped | grant the same node again, new epoch |
 * | attached   | dead         | unknown                    | nothing: a person decides (`volume-status.ts` says so) |
 *
 * A crash between grant and start repeats the start at the same epoch, which answers as the first time. An engine that
 * was started without anybody recording it is stopped by a detach, because the granted node is recorded first.
 */
import { compareIds, type NodeId } from '../model/ids.js';
import { isHealthy } from '../model/replica.js';
import { isNodeReady } from '../policy/node-conditions.js';
import type { Step } from './step.js';
import type { VolumeView } from './views.js';
import { isOnReadyNode, nodeById } from './volume-facts.js';

export function planDetachment({ volume, fleet }: VolumeView): Step | undefined {
  const { attachedNodeId: nodeId } = volume;
  if (nodeId === undefined) return undefined;
  if (volume.attachment !== undefined && volume.state !== 'detaching') return undefined;

  const node = nodeById(fleet, nodeId);
  const isAlive = node !== undefined && isNodeReady(node);
  if (!isAlive && !volume.detachForced) return undefined;
  const mayFail = volume.detachForced;
  return { kind: 'stop-engine', nodeId, epoch: volume.epoch, askAgent: isAlive, mayFail };
}

export function planAttachment(view: VolumeView): Step | undefined {
  const { volume, fleet } = view;
  if (volume.attachment === undefined || volume.state === 'detaching') return undefined;
  if (volume.attachedNodeId === undefined) return planGrant(view);

  const node = nodeById(fleet, volume.attachedNodeId);
  if (node === undefined || !isNodeReady(node)) return undefined;
  // An epoch belongs to one life of the agent. Also a start that nobody has recorded may have happened in the life
  // before, so only a new epoch is sure to have no other engine.
  if (node.bootId !== volume.engineBootId) {
    return { kind: 'grant-attachment', nodeId: node.id, why: `the agent on ${node.name} was restarted` };
  }
  if (volume.state !== 'attached') return { kind: 'start-engine', nodeId: node.id };

  const { engine } = view;
  if (engine?.report.state === 'stopped') {
    const why = `the engine on ${node.name} stopped: ${engine.report.reason}`;
    return { kind: 'grant-attachment', nodeId: node.id, why };
  }
  return undefined;
}

function planGrant(view: VolumeView): Step | undefined {
  if (attachObstacle(view) !== undefined) return undefined;
  const nodeId = attachNode(view);
  return nodeId === undefined
    ? undefined
    : { kind: 'grant-attachment', nodeId, why: 'an attach was requested' };
}

/** Why the volume can't attach yet although somebody wants it; `undefined` when nothing stands in the way. */
export function attachObstacle(
  view: VolumeView,
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
  return {
    code: 'NoNodeToAttach',
    message: 'no node that could serve the volume is ready',
    cures: ['start the agent of a node that holds a copy'],
  };
}

/**
 * The node that was asked for, or else, of the ready nodes that hold a full copy, the one with the smallest id: reads
 * are local there. Where no copy counts as full, any copy's node will do: the copies' own records decide at the start.
 */
function attachNode({ volume, replicas, fleet }: VolumeView): NodeId | undefined {
  const wanted = volume.attachment?.nodeId;
  if (wanted !== undefined) {
    const node = nodeById(fleet, wanted);
    return node !== undefined && isNodeReady(node) ? wanted : undefined;
  }
  const reachable = replicas.filter((replica) => replica.provisioned && isOnReadyNode(replica, fleet));
  const healthy = reachable.filter(isHealthy);
  return (healthy.length > 0 ? healthy : reachable)
    .flatMap(({ nodeId }) => (nodeId === undefined ? [] : [nodeId]))
    .sort(compareIds)[0];
}
