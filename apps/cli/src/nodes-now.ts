/** State of a cluster's nodes for texts about volumes: names, and which of them do not answer. */
import { type SilentNodes, silentNodesOf } from '@holdfast/core/policy/silent-nodes.js';
import { type Context, remark } from './context.js';
import { CliError, EXIT } from './exit-codes.js';
import type { Node, Volume } from './types.js';

export type NodesNow = {
  /** Of a node that is not known: its id. Of none: a dash. */
  readonly nameOf: (nodeId: string | null) => string;
  readonly silent: SilentNodes;
};

/** Ids that a filter has room for by its length. A volume with more copies is rare enough to have all nodes read for it. */
const FILTERED_MAX = 20;

/** Refusals of a reader that may see volumes and no nodes: a token for some actions, or the receiver of a grant of the cluster. */
const NOT_FOR_READER: ReadonlySet<number> = new Set([EXIT.auth, EXIT.notFound]);
const UNREAD =
  'the nodes of the cluster may not be read with this token: volumes are shown as they were judged last, also those on nodes that do not answer';

/** All nodes of the cluster: a page for each 200. */
export async function allNodesNow(context: Context): Promise<NodesNow> {
  return told(await read(context, () => context.nodes()));
}

/** The nodes of one volume and its copies only: its cluster may have a thousand. */
export async function nodesOfVolume(
  context: Context,
  { attachedNodeId, replicas }: Pick<Volume, 'attachedNodeId' | 'replicas'>,
): Promise<NodesNow> {
  const ids = [attachedNodeId, ...replicas.map(({ nodeId }) => nodeId)];
  return told(await read(context, () => someNodes(context, ids)));
}

/** The node that serves the volume. Of a reader that may see none, nothing is known of it. */
export async function holderNow(
  context: Context,
  { attachedNodeId }: Pick<Volume, 'attachedNodeId'>,
): Promise<NodesNow> {
  return (await read(context, () => someNodes(context, [attachedNodeId]))) ?? nodesNow([]);
}

export function nodesNow(nodes: readonly Pick<Node, 'id' | 'name' | 'conditions'>[]): NodesNow {
  const names = new Map(nodes.map(({ id, name }) => [id, name]));
  return { nameOf: (id) => (id === null ? '-' : (names.get(id) ?? id)), silent: silentNodesOf(nodes) };
}

async function someNodes(context: Context, nodeIds: readonly (string | null)[]): Promise<Node[]> {
  const ids = new Set(nodeIds.filter((id) => id !== null));
  if (ids.size === 0) return [];
  return context.nodes(ids.size > FILTERED_MAX ? {} : { filter: `id in (${[...ids].join(', ')})` });
}

/** `undefined`: the reader may see none. Names alone need none of them. */
async function read(context: Context, ask: () => Promise<Node[]>): Promise<NodesNow | undefined> {
  if (context.output.output === 'name') return nodesNow([]);
  try {
    return nodesNow(await ask());
  } catch (error) {
    if (error instanceof CliError && NOT_FOR_READER.has(error.exitCode)) return undefined;
    throw error;
  }
}

function told(nodes: NodesNow | undefined): NodesNow {
  if (nodes === undefined) remark(UNREAD);
  return nodes ?? nodesNow([]);
}
