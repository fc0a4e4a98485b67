/** Availability of a volume's actions now, by the same rules that the API refuses by. */

import { isNodeReady } from '@holdfast/core/model/node.js';
import { nodesForUsers } from '@holdfast/core/model/strict-locality.js';
import type { ActionFacts } from '@holdfast/core/policy/action-facts.js';
import { decideDetach } from '@holdfast/core/policy/decide-detach.js';
import type { Decision } from '@holdfast/core/policy/decision.js';
import { isNotServed, type SilentNodes } from '@holdfast/core/policy/silent-nodes.js';
import type { StorageNode, Volume } from './api/types';
import { sentence } from './sentence';

type ShownVolume = Pick<
  Volume,
  | 'id'
  | 'name'
  | 'state'
  | 'attachedNodeId'
  | 'task'
  | 'fill'
  | 'verification'
  | 'conditions'
  | 'dataLocality'
  | 'replicas'
>;
type ShownNode = Pick<StorageNode, 'id' | 'name' | 'conditions' | 'drain'>;
/** Known facts about the cluster so far. */
type Cluster = {
  readonly nodes: readonly ShownNode[];
  readonly volumes: readonly Pick<Volume, 'fill'>[];
};

/** Inputs of the rules, from the API's answers. */
export function actionFactsOf(volume: ShownVolume, cluster: Cluster): ActionFacts {
  const { id, name, state, attachedNodeId, task, conditions } = volume;
  const isRebuilt = conditions.some(({ type, status }) => type === 'OfflineRebuilding' && status === 'True');
  const isWanted = state === 'attaching' || state === 'attached';
  return {
    id,
    name,
    state,
    isDeleting: state === 'deleting',
    isBeingFilled: volume.fill !== null,
    isRepairing: isRebuilt && state === 'detached',
    isBeingVerified: volume.verification?.state === 'running',
    attachment: isWanted ? { nodeId: attachedNodeId ?? undefined } : undefined,
    attachedNodeId: attachedNodeId ?? undefined,
    task: task === null ? undefined : { kind: task.kind, snapshotId: task.snapshotId ?? undefined },
    clonedSnapshotIds: cluster.volumes.flatMap(({ fill }) =>
      fill?.sourceVolumeId === id ? [fill.snapshotId] : [],
    ),
    servingNodeIds:
      volume.dataLocality === 'strict-local'
        ? nodesForUsers(
            volume.replicas.map(({ nodeId, intent, healthyAt, failedAt }) => {
              return { nodeId: nodeId ?? undefined, intent, isFull: healthyAt !== null && failedAt === null };
            }),
          )
        : undefined,
    nodes: nodeFacts(cluster.nodes, attachedNodeId),
  };
}

/** A holder that is not in the list is newer than it, and the API will judge it: here it counts as ready. */
function nodeFacts(nodes: readonly ShownNode[], holderId: string | null): ActionFacts['nodes'] {
  const known = nodes.map((node) => ({
    id: node.id,
    name: node.name,
    isReady: isNodeReady(node),
    isDraining: node.drain !== null,
    // The setting that closes cordoned nodes is not read here: the API judges.
    isClosed: false,
  }));
  if (holderId === null || known.some(({ id }) => id === holderId)) return known;
  return [...known, { id: holderId, name: holderId, isReady: true, isDraining: false, isClosed: false }];
}

/** Why an action can't be taken now, and what would help; `undefined` where it can. */
export function reasonOf(decision: Decision): string | undefined {
  if (decision.kind === 'allow') return undefined;
  const cures = decision.kind === 'refuse' ? decision.cures : [];
  const why = sentence(decision.why);
  return cures.length === 0 ? why : `${why} ${sentence(cures.join(', or '))}`;
}

/** Kind of detach that is possible now, and the reason if none is. */
export type DetachWay = { readonly force: boolean; readonly reason: string | undefined };

/**
 * By force as soon as the page knows that the serving node does not answer. The API considers the node ready until its heartbeat is
 * overdue, and a detach without force requested meanwhile would wait for the engine there.
 */
export function detachWayOf(
  volume: Pick<Volume, 'attachedNodeId'>,
  facts: ActionFacts,
  silent: SilentNodes,
): DetachWay {
  const detach = decideDetach(facts, false);
  const isHolderGone = detach.kind === 'refuse' && detach.code === 'volume.holder_unreachable';
  const force = isHolderGone || (detach.kind === 'allow' && isNotServed(volume, silent));
  return { force, reason: force ? undefined : reasonOf(detach) };
}
