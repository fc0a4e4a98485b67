/**
 * Input of the decisions about a volume's actions: what they read of it. The console makes the same facts of the API's
 * answers.
 */

import type { LayerTask } from '../model/layer-task.js';
import { isNodeReady } from '../model/node.js';
import { servingNodeIds } from '../model/strict-locality.js';
import type { VolumeView } from '../model/views.js';
import { holderOf, isDeleting, isRepairing, requestOf, type VolumeState } from '../model/volume-lifecycle.js';
import { fillOf, layerTaskOf } from '../model/volume-task.js';

export type ActionFacts = {
  readonly id: string;
  readonly name: string;
  readonly state: VolumeState;
  readonly isDeleting: boolean;
  /** Until it holds what it was cloned from; the worker attaches it for that. */
  readonly isBeingFilled: boolean;
  /** The worker has attached it only to rebuild missing copies: to users it is detached. */
  readonly isRepairing: boolean;
  readonly isBeingVerified: boolean;
  /** The attachment that is wanted. `nodeId` undefined: on any node that holds a copy. */
  readonly attachment: { readonly nodeId: string | undefined } | undefined;
  /** The node whose engine serves it, or should. */
  readonly attachedNodeId: string | undefined;
  /** The one change of all layers that is wanted and not done yet. */
  readonly task: { readonly kind: LayerTask['kind']; readonly snapshotId: string | undefined } | undefined;
  /** Its snapshots that clones are being filled from. */
  readonly clonedSnapshotIds: readonly string[];
  /** With strict locality: the nodes that hold its full copy, which alone may serve it. `undefined`: any may. */
  readonly servingNodeIds: readonly string[] | undefined;
  /** All nodes of its cluster. */
  readonly nodes: readonly NodeFacts[];
};

export type NodeFacts = {
  readonly id: string;
  readonly name: string;
  readonly isReady: boolean;
  readonly isDraining: boolean;
  /** It is cordoned, and a setting has users' volumes detached from such nodes. */
  readonly isClosed: boolean;
};

export function actionFacts({ volume, replicas, clones, fleet }: VolumeView): ActionFacts {
  const task = layerTaskOf(volume);
  const snapshotId = task?.kind === 'revert' ? task.snapshotId : undefined;
  return {
    id: volume.id,
    name: volume.name,
    state: volume.lifecycle.state,
    isDeleting: isDeleting(volume),
    isBeingFilled: fillOf(volume) !== undefined,
    isRepairing: isRepairing(volume),
    isBeingVerified: volume.verification?.state === 'running',
    attachment: requestOf(volume),
    attachedNodeId: holderOf(volume),
    task: task === undefined ? undefined : { kind: task.kind, snapshotId },
    clonedSnapshotIds: clones.map((clone) => clone.snapshotId),
    servingNodeIds: servingNodeIds({ volume, replicas }),
    nodes: fleet.nodes.map((node) => ({
      id: node.id,
      name: node.name,
      isReady: isNodeReady(node),
      isDraining: node.drain !== undefined,
      isClosed: node.cordoned && fleet.settings['detach-manually-attached-volumes-when-cordoned'],
    })),
  };
}
