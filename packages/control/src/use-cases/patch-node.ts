import { changedLabels, type LabelChanges } from '@holdfast/core/model/labels.js';
import type { StorageNode } from '@holdfast/core/model/node.js';
import { nodeForMoves } from '@holdfast/core/policy/decide-drain.js';
import { decideNodeEviction } from '@holdfast/core/policy/decide-eviction.js';
import { changeNode, type NodeKey } from './change-node.js';
import { withoutDrain } from './drain-node.js';
import { assertMayEvict, hasToAct, type UseCasePorts } from './use-case.js';

/** `null` removes the label. */
export type NodeSpecPatch = {
  allowScheduling?: boolean | undefined;
  cordoned?: boolean | undefined;
  evictionRequested?: boolean | undefined;
  tags?: readonly string[] | undefined;
  zone?: string | null | undefined;
  region?: string | null | undefined;
  /** Those that are named change. */
  labels?: LabelChanges | undefined;
};

/**
 * Changes the wanted state of a node.
 *
 * @throws StorageFault `node.not_found`, `request.invalid` for an eviction while new replicas are allowed, `node.last_ready` for an
 * eviction without another node
 */
export function patchNode(ports: UseCasePorts, input: NodeKey & { patch: NodeSpecPatch }): Promise<void> {
  return changeNode(ports, input, (node, _now, fleet) => {
    const wanted = patchedNode(node, input.patch);
    assertMayEvict(node.name, wanted);
    const isToBeEmptied = wanted.evictionRequested && !node.evictionRequested;
    if (isToBeEmptied) hasToAct(decideNodeEviction(node, fleet));
    return {
      patch: input.patch.cordoned === false ? { ...wanted, ...withoutDrain(node) } : wanted,
      countsOn: isToBeEmptied ? nodeForMoves(node.id, fleet) : undefined,
    };
  });
}

type NodeSpec = Pick<
  StorageNode,
  'allowScheduling' | 'cordoned' | 'evictionRequested' | 'tags' | 'zone' | 'region' | 'labels'
>;

function patchedNode(node: StorageNode, patch: NodeSpecPatch): NodeSpec {
  return {
    allowScheduling: patch.allowScheduling ?? node.allowScheduling,
    cordoned: patch.cordoned ?? node.cordoned,
    evictionRequested: patch.evictionRequested ?? node.evictionRequested,
    tags: patch.tags ?? node.tags,
    labels: changedLabels(node.labels, patch.labels ?? {}),
    zone: patch.zone === undefined ? node.zone : (patch.zone ?? undefined),
    region: patch.region === undefined ? node.region : (patch.region ?? undefined),
  };
}
