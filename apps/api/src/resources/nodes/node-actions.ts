/** Actions on a node, beside changes of its switches and labels. */
import { cordonNode, uncordonNode } from '@holdfast/control/use-cases/cordon-node.js';
import { cancelDrain, drainNode } from '@holdfast/control/use-cases/drain-node.js';
import { forgetNode } from '@holdfast/control/use-cases/forget-node.js';
import { endMaintenance, startMaintenance } from '@holdfast/control/use-cases/maintain-node.js';
import type { NodeWithStorage } from '@holdfast/database/queries/nodes.js';
import { NoBody } from '../../http/schemas.js';
import { type ActionTarget, serveAction } from '../actions/serve-action.js';
import { maintenance, nodeDrain, nodeForget, noteOnly } from '../dry-runs/planned-effects.js';
import { drainOperation } from '../operations/begun-operations.js';
import { DrainBody } from './drain.schemas.js';
import { ForgetNodeBody, MaintenanceBody, NodeDto, NodePath } from './node.schemas.js';
import { type NodeView, nodeView } from './node.view.js';
import { readNode } from './read-node.js';

const NODE: ActionTarget<typeof NodePath.schema, NodeWithStorage, NodeView> = {
  plural: 'Nodes',
  noun: 'Node',
  address: 'api/v1/clusters/:clusterId/nodes/:nodeId',
  path: NodePath,
  access: 'node:write',
  answer: NodeDto,
  read: readNode,
  view: nodeView,
};

export const NODE_ACTIONS = [
  serveAction(NODE, {
    name: 'cordon',
    summary: 'Cordon a node: it gets no new replicas; those on it stay',
    body: NoBody,
    refuses: ['cluster.not_found', 'node.not_found'],
    takesIfMatch: true,
    act: ({ tenant, key, ifVersion }) => cordonNode(tenant.ports, { ...key, ifVersion }),
    isDone: ({ cordoned }) => cordoned,
  }),
  serveAction(NODE, {
    name: 'uncordon',
    summary: 'Uncordon a node, which also ends its drain',
    body: NoBody,
    dryRun: noteOnly('replicas that are still on the node stay there'),
    refuses: ['cluster.not_found', 'node.not_found'],
    takesIfMatch: true,
    act: ({ tenant, key, ifVersion }) => uncordonNode(tenant.ports, { ...key, ifVersion }),
    isDone: ({ cordoned }) => !cordoned,
  }),
  serveAction(NODE, {
    name: 'drain',
    summary: 'Drain a node: cordon it, and move its replicas as the policy requires',
    body: DrainBody,
    dryRun: nodeDrain,
    refuses: ['cluster.not_found', 'node.not_found', 'node.last_ready'],
    takesIfMatch: true,
    act: ({ tenant, key, body, ifVersion }) =>
      drainNode(tenant.ports, { ...key, policy: body.policy, ifVersion }),
    operation: ({ node }) => drainOperation(node),
    isDone: ({ drain }) => drain?.state === 'drained',
  }),
  serveAction(NODE, {
    name: 'cancelDrain',
    at: 'cancel-drain',
    mutation: 'cancelNodeDrain',
    summary: 'Cancel the drain of a node; replicas that are still on it stay',
    body: NoBody,
    refuses: ['cluster.not_found', 'node.not_found'],
    takesIfMatch: true,
    act: ({ tenant, key, ifVersion }) => cancelDrain(tenant.ports, { ...key, ifVersion }),
    isDone: ({ drain }) => drain === null,
  }),
  serveAction(NODE, {
    name: 'startMaintenance',
    at: 'maintenance',
    mutation: 'startNodeMaintenance',
    summary: 'Open a maintenance window, in which copies on this node are waited for, not rebuilt elsewhere',
    body: MaintenanceBody,
    dryRun: maintenance,
    refuses: ['cluster.not_found', 'node.not_found'],
    takesIfMatch: true,
    act: ({ tenant, key, body, ifVersion }) =>
      startMaintenance(tenant.ports, { ...key, maintenance: body, ifVersion }),
    isDone: () => true,
  }),
  serveAction(NODE, {
    name: 'endMaintenance',
    at: 'end-maintenance',
    mutation: 'endNodeMaintenance',
    summary: "End a node's maintenance window early",
    body: NoBody,
    dryRun: noteOnly(
      'copies that only this node lost are built elsewhere again, if it does not come back in time',
    ),
    refuses: ['cluster.not_found', 'node.not_found'],
    takesIfMatch: true,
    act: ({ tenant, key, ifVersion }) => endMaintenance(tenant.ports, { ...key, ifVersion }),
    isDone: () => true,
  }),
  serveAction(NODE, {
    name: 'forget',
    summary:
      'Declare a node permanently lost: revoke its certificate, give up its copies, and delete it in the end',
    body: ForgetNodeBody,
    dryRun: nodeForget,
    refuses: ['cluster.not_found', 'node.not_found', 'node.in_use', 'node.holds_only_copy'],
    takesIfMatch: true,
    act: ({ tenant, key, body, ifVersion }) =>
      forgetNode(tenant.ports, { ...key, acceptedLosses: body.acceptLossOf, ifVersion }),
  }),
];
