/**
 * TLS of NBD connections between nodes: which connections of a host process use it, and whom its other end admits.
 *
 * Beyond the loopback a copy's data goes over TLS with the certificates of both nodes. A node's connections to itself
 * never leave the machine and do without.
 */
import { Certificates } from '@holdfast/data-engine/nbd/certificates.js';
import { type TlsChoice, withCertificates } from '@holdfast/data-engine/nbd/client-tls.js';
import type { TunnelEnd } from '@holdfast/data-engine/nbd/tls-tunnel.js';
import { readNodeCertificate } from '@holdfast/identity/certificate.js';
import { isLoopback, nodeDnsName } from '@holdfast/identity/names.js';
import { nodeTls } from '../identity/node-connections.js';
import { OwnIdentity } from '../identity/own-identity.js';
import type { StoredIdentity } from '../identity/stored-identity.js';
import { tlsOfEnvironment } from '../tls-environment.js';

/** TLS of the connections that engines and rebuilds of this process make. */
export function tlsBetweenNodes(environment: NodeJS.ProcessEnv): TlsChoice {
  const users = tlsOfEnvironment(environment);
  const onLoopback = users.mode === 'require' ? withCertificates(new Certificates(users.files)) : undefined;
  const own = new OwnIdentity(environment.HOLDFAST_STATE_DIR ?? '');
  return async (peer) => {
    if (isLoopback(peer.host)) return onLoopback?.(peer);
    const identity = await own.current();
    // Where TLS is required of users, the port lets no plaintext in, from wherever it comes.
    if (peer.nodeId === identity.nodeId && users.mode !== 'require') return undefined;
    // A peer without a node has a name that no certificate is for.
    return { ...nodeTls(identity), servername: nodeDnsName(peer.nodeId ?? 'unknown') };
  };
}

/** The end of a TLS server that other nodes of the cluster ask for: by the name of this node. */
export function nodesEnd(identity: StoredIdentity, plaintextPath: string): TunnelEnd {
  return {
    identity: nodeTls(identity),
    admit: (shown) => {
      const node = readNodeCertificate(shown);
      if (node === undefined || node.clusterId !== identity.clusterId) {
        throw new Error('copies are served to nodes of this cluster only');
      }
      return { path: plaintextPath, peer: node.nodeId };
    },
  };
}
