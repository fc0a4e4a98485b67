import type { StorageNode } from '@holdfast/core/model/node.js';
import { changeNode, type NodeKey } from './change-node.js';
import { assertMayEvict, type UseCasePorts } from './use-case.js';

/** `null` removes the label. */
export type NodeSpecPatch = {
  allowScheduling?: boolean | undefined;
  cordoned?: boolean | undefined;
  evictionRequested?: boolean | undefined;
  tags?: readonly string[] | undefined;
  zone?: string | null | undefined;
  region?: string | null | undefined;
};

/**
 * Changes what is wanted of a node.
 *
 * @throws StorageFault `node.not_found`, `request.invalid` when it is to be emptied while new replicas may come
 */
export function patchNode(ports: UseCasePorts, input: NodeKey & { patch: NodeSpecPatch }): Promise<void> {
  return changeNode(ports, input, (node) => {
    const wanted = patchedNode(node, input.patch);
    assertMayEvict(node.name, wanted);
    return wanted;
  });
}

type NodeSpec = Pick<
  StorageNode,
  'allowScheduling' | 'cordoned' | 'evictionRequested' | 'tags' | 'zone' | 'region'
>;

function patchedNode(node: StorageNode, patch: NodeSpecPatch): NodeSpec {
  return {
    allowScheduling: patch.allowScheduling ?? node.allowScheduling,
    cordoned: patch.cordoned ?? node.cordoned,
    evictionRequested: patch.evictionRequested ?? node.evictionRequested,
    tags: patch.tags ?? node.tags,
    zone: patch.zone === undefined ? node.zone : (patch.zone ?? undefined),
    region: patch.region === undefined ? node.region : (patch.region ?? undefined),
  };
}
