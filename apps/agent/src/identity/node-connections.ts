/**
 * Connections to agents of other nodes, over TLS with this node's certificate. Whoever answers has to show the certificate of
 * the node that was meant.
 *
 * Host processes use them too: they read the identity from the state folder, where the agent renews it.
 */
import https from 'node:https';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { nodeDnsName } from '@holdfast/identity/names.js';
import { IdentityFolder, type StoredIdentity } from './stored-identity.js';

/** How late a renewed certificate is shown at most: it is renewed when half of its life is left. */
const READ_AGAIN_MS = 1_000;

type Known = { readonly identity: StoredIdentity; readonly byNode: Map<string, https.Agent> };

export class NodeConnections {
  private known: Known | undefined;
  private readAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly stateDirectory: string) {}

  /** @throws StorageFault `agent.unreachable` while this node has no certificate */
  async to(nodeId: string): Promise<https.Agent> {
    const { identity, byNode } = await this.current();
    const found = byNode.get(nodeId);
    if (found !== undefined) return found;
    const made = new https.Agent({
      keepAlive: true,
      maxSockets: 64,
      maxFreeSockets: 8,
      // Each connection proves both certificates anew.
      maxCachedSessions: 0,
      minVersion: 'TLSv1.3',
      ca: identity.authorities,
      cert: identity.certificatePem,
      key: identity.keyPem,
      servername: nodeDnsName(nodeId),
    });
    byNode.set(nodeId, made);
    return made;
  }

  private async current(): Promise<Known> {
    const nowMs = performance.now();
    if (this.known !== undefined && nowMs < this.readAtMs + READ_AGAIN_MS) return this.known;
    const identity = await (await IdentityFolder.open(this.stateDirectory)).read();
    // A file that can't be read now is no reason to do without what was read before.
    if (identity !== undefined && !isSame(identity, this.known?.identity)) {
      // Calls under way end on the connections that they have; idle ones are closed by the other side.
      this.known = { identity, byNode: new Map() };
    }
    this.readAtMs = nowMs;
    if (this.known !== undefined) return this.known;
    throw new StorageFault('agent.unreachable', {
      publicMessage: 'this node has no certificate yet, without which other nodes do not hear it',
    });
  }
}

function isSame(a: StoredIdentity, b: StoredIdentity | undefined): boolean {
  return a.certificatePem === b?.certificatePem && a.authorities.join() === b.authorities.join();
}
