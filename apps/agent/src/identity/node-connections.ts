/**
 * Connections to agents of other nodes, over TLS with this node's certificate. Whoever answers has to show the certificate of
 * the node that was meant.
 */
import https from 'node:https';
import type { TlsIdentity } from '@holdfast/data-engine/nbd/certificates.js';
import { nodeDnsName } from '@holdfast/identity/names.js';
import { OwnIdentity } from './own-identity.js';
import type { StoredIdentity } from './stored-identity.js';

/** Certificates that a node shows, and the authorities that must have signed those of others. */
export function nodeTls(identity: StoredIdentity): TlsIdentity {
  const { authorities: ca, certificatePem: cert, keyPem: key } = identity;
  return { ca, cert, key, minVersion: 'TLSv1.3' };
}

export class NodeConnections {
  private readonly identity: OwnIdentity;
  private byNode: { readonly of: StoredIdentity; readonly agents: Map<string, https.Agent> } | undefined;

  constructor(stateDirectory: string) {
    this.identity = new OwnIdentity(stateDirectory);
  }

  /** @throws StorageFault `agent.unreachable` while this node has no certificate */
  async to(nodeId: string): Promise<https.Agent> {
    const identity = await this.identity.current();
    // Calls under way end on the connections that they have; idle ones are closed by the other side.
    if (this.byNode?.of !== identity) this.byNode = { of: identity, agents: new Map() };
    const { agents } = this.byNode;
    const found = agents.get(nodeId);
    if (found !== undefined) return found;
    const made = new https.Agent({
      keepAlive: true,
      maxSockets: 64,
      maxFreeSockets: 8,
      // Each connection proves both certificates anew.
      maxCachedSessions: 0,
      ...nodeTls(identity),
      servername: nodeDnsName(nodeId),
    });
    agents.set(nodeId, made);
    return made;
  }
}
