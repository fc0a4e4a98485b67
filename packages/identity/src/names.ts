/** Names that certificates are bound to. What a certificate may be used for follows from its name alone. */

/** DNS name in the certificate of every API process. Agents ask for it, whatever address they connect to. */
export const CONTROL_PLANE_NAME = 'control-plane.holdfast.internal';

/** A node as its certificate names it. */
export type NodeName = { clusterId: string; nodeId: string };

const NODE_URI = /^spiffe:\/\/holdfast\/cluster\/([0-9a-f-]{36})\/node\/([0-9a-f-]{36})$/;

/** URI in a node's certificate, in the form of SPIFFE ids: who it is, with its cluster. */
export function nodeUri({ clusterId, nodeId }: NodeName): string {
  return `spiffe://holdfast/cluster/${clusterId}/node/${nodeId}`;
}

export function parseNodeUri(uri: string): NodeName | undefined {
  const [, clusterId, nodeId] = NODE_URI.exec(uri) ?? [];
  return clusterId === undefined || nodeId === undefined ? undefined : { clusterId, nodeId };
}
