/** Authenticates agents by the certificate of their TLS connection. */
import type { X509Certificate } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, isId, type NodeId } from '@holdfast/core/model/ids.js';
import { systemClock } from '@holdfast/database/clock-and-random.js';
import { findIdentity } from '@holdfast/database/identity/node-identities.js';
import { type NodeCertificate, readNodeCertificate } from '@holdfast/identity/certificate.js';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Databases } from '../http/databases.js';
import type { AgentActor } from './actor.js';

@Injectable()
export class AgentAuthenticator {
  /** A connection shows one certificate, which is read once. */
  private readonly certificates = new WeakMap<TLSSocket, NodeCertificate>();

  constructor(private readonly databases: Databases) {}

  /**
   * A certificate is valid while its key is that of the node's identity, so that joining again with another key, and revoking, invalidate
   * all earlier ones.
   *
   * @throws StorageFault `auth.missing`, `auth.forbidden`, `node.identity_refused`
   */
  async requireAgent(request: FastifyRequest): Promise<AgentActor> {
    const { nodeId, clusterId, keyHash } = this.shownBy(request);
    const identity = isId(nodeId)
      ? await findIdentity(this.databases.agents(), asId<NodeId>(nodeId))
      : undefined;
    if (identity === undefined || identity.clusterId !== clusterId)
      throw refused('the node is not known any more');
    if (identity.keyHash !== keyHash)
      throw refused(`node ${identity.name} has joined again with another key`);
    if (identity.revokedAt !== undefined)
      throw refused(`the certificate of node ${identity.name} was revoked`);
    const { name, organizationId } = identity;
    return { kind: 'agent', nodeId: identity.nodeId, clusterId: identity.clusterId, organizationId, name };
  }

  /**
   * The certificate of the connection. The caller has to compare it with the node's identity: it may have been revoked.
   *
   * @throws StorageFault `auth.missing`, `auth.forbidden`, `node.identity_refused`
   */
  shownBy(request: FastifyRequest): NodeCertificate {
    const certificate = this.certificateOf(requireTls(request));
    const { validTo } = certificate;
    if (validTo < systemClock.now()) throw refused(`its certificate ran out at ${validTo.toISOString()}`);
    return certificate;
  }

  private certificateOf(socket: TLSSocket): NodeCertificate {
    const known = this.certificates.get(socket);
    if (known !== undefined) return known;
    const shown: X509Certificate | undefined = socket.getPeerX509Certificate();
    if (shown === undefined) {
      throw new StorageFault('auth.missing', {
        publicMessage: 'the connection has no client certificate: only agents with one are heard here',
        cures: ['join with a join token first: POST /api/v1/agent/identity'],
      });
    }
    if (!socket.authorized)
      throw refused(`its certificate can not be believed: ${String(socket.authorizationError)}`);
    const certificate = readNodeCertificate(shown);
    if (certificate === undefined) throw refused('its certificate is none of a node');
    this.certificates.set(socket, certificate);
    return certificate;
  }
}

/** @throws StorageFault `auth.forbidden` for a connection without TLS */
export function requireTls({ raw }: FastifyRequest): TLSSocket {
  if (raw.socket instanceof TLSSocket) return raw.socket;
  throw new StorageFault('auth.forbidden', {
    publicMessage:
      'agents are heard over TLS with the certificate of their node; a token is good for joining only',
    cures: ['speak TLS on this same port'],
  });
}

function refused(why: string): StorageFault {
  return new StorageFault('node.identity_refused', {
    publicMessage: `the agent is not believed: ${why}`,
    cures: ['ask for a certificate with the same key, or join again with a join token that names the node'],
  });
}
