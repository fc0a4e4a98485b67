/** Names that certificates are bound to. The permitted use of a certificate follows from its name alone. */

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

/** URI in a worker's certificate: workers may command agents. */
export const WORKER_URI = 'spiffe://holdfast/control-plane/worker';

/** DNS name in a node's certificate, by which the worker knows that it has reached that node and no other. */
export function nodeDnsName(nodeId: string): string {
  return `${nodeId}.node.holdfast.internal`;
}

/** The host of an address: a name, or an IP without the brackets that a URL puts around IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Is the host this machine itself, by name or address? Between its processes there is no network to listen on. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
