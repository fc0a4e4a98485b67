import type { ActionFacts, NodeFacts } from './action-facts.js';
import { ALLOWED, type Decision, type Refusal, refuse, unchanged } from './decision.js';
import { refusalWhileDeleting, refusalWhileFilling } from './refusals.js';

/**
 * Code of what keeps an attach waiting while its node has missed a heartbeat and is not judged yet. It ends within
 * `agent-heartbeat-timeout`: the node answers, or it counts as dead.
 */
export const NODE_UNANSWERING = 'NodeUnanswering';

/**
 * May the volume be attached on this node? Only one node at a time serves it. The worker's own attachment, to rebuild missing
 * copies, is no obstacle: a user's takes it over.
 *
 * @param nodeId `undefined`: any node that holds a copy
 */
export function decideAttach(facts: ActionFacts, nodeId: string | undefined): Decision {
  const refusal =
    refusalWhileDeleting(facts) ??
    refusalWhileFilling(facts) ??
    refusalOfNode(facts.nodes, nodeId) ??
    refusalOfLocality(facts, nodeId);
  if (refusal !== undefined) return refusal;
  const { attachment, attachedNodeId, isRepairing, name, state } = facts;
  if (attachment === undefined || isRepairing) return refusalOfLeavingNode(facts.nodes, nodeId) ?? ALLOWED;
  const holderId = attachedNodeId ?? attachment.nodeId;
  if (nodeId === undefined || nodeId === holderId) {
    return unchanged(`volume ${name} is ${state === 'attached' ? 'attached' : 'being attached'} already`);
  }
  if (holderId === undefined) return refusalOfLeavingNode(facts.nodes, nodeId) ?? ALLOWED;
  return attachedElsewhere(facts, holderId);
}

function refusalOfNode(nodes: readonly NodeFacts[], nodeId: string | undefined): Refusal | undefined {
  if (nodeId === undefined) return undefined;
  const node = nodes.find(({ id }) => id === nodeId);
  if (node === undefined) return refuse('node.not_found', `the cluster has no node ${nodeId}`);
  if (node.isReady) return undefined;
  return refuse('node.not_ready', `node ${node.name} is not ready`, [
    `start the agent on ${node.name}`,
    'attach on another node',
  ]);
}

/** A node that is drained is to lose its engines, and so is a cordoned one where a setting says so. */
function refusalOfLeavingNode(nodes: readonly NodeFacts[], nodeId: string | undefined): Refusal | undefined {
  const node = nodes.find(({ id }) => id === nodeId);
  if (node?.isDraining === true) {
    return refuse('node.draining', `node ${node.name} is drained`, [
      'attach on another node',
      `cancel the drain of ${node.name}`,
    ]);
  }
  if (node?.isClosed !== true) return undefined;
  return refuse(
    'node.cordoned',
    `node ${node.name} is cordoned, and volumes are detached from cordoned nodes`,
    [
      'attach on another node',
      `uncordon ${node.name}`,
      'set detach-manually-attached-volumes-when-cordoned to false',
    ],
  );
}

/** Strict locality: the engine runs where the only copy is, so that no write crosses the network. */
function refusalOfLocality(facts: ActionFacts, nodeId: string | undefined): Refusal | undefined {
  const { name, nodes, servingNodeIds } = facts;
  if (nodeId === undefined || servingNodeIds === undefined || servingNodeIds.length === 0) return undefined;
  if (servingNodeIds.includes(nodeId)) return undefined;
  const nameOf = (id: string) => nodes.find((node) => node.id === id)?.name ?? id;
  const holders = servingNodeIds.map(nameOf).join(', ');
  return refuse(
    'volume.strict_local',
    `volume ${name} has strict data locality, and its copy is on ${holders}, not on ${nameOf(nodeId)}`,
    [`attach it on ${holders}`, 'set dataLocality to best-effort or disabled'],
  );
}

function attachedElsewhere({ id, name, nodes }: ActionFacts, holderId: string): Refusal {
  const holder = nodes.find((node) => node.id === holderId);
  const holderName = holder?.name ?? holderId;
  const isAlive = holder?.isReady === true;
  return refuse(
    'volume.attached_elsewhere',
    `volume ${name} is attached on node ${holderName}, which is ${isAlive ? 'alive' : 'not answering'}`,
    isAlive
      ? [`detach the volume from ${holderName} first`]
      : [
          'detach with force, then attach: with half of its last copies every acknowledged and flushed write is kept',
          `start the agent on ${holderName}`,
        ],
    { volumeId: id, holderNodeId: holderId, holderIsAlive: isAlive },
  );
}
