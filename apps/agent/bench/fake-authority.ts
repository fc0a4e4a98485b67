/** The part of a control plane that agents join, for tests and benchmarks: it lets every agent in that asks. */
import crypto from 'node:crypto';
import type http from 'node:http';
import https from 'node:https';
import { joinSchema } from '@holdfast/core/model/agent-join.js';
import {
  type Authority,
  type KeyedCertificate,
  makeAuthority,
  makeControlPlaneCertificate,
  readRequest,
  signNodeCertificate,
} from '@holdfast/identity/authority.js';
import { fingerprintOf } from '@holdfast/identity/certificate.js';
import { joinTokenText } from '@holdfast/identity/join-token.js';

const DAY_MS = 24 * 3_600_000;

export class FakeAuthority {
  /** The cluster of all nodes that join. */
  readonly clusterId = crypto.randomUUID();
  /** Life of the certificates that it signs, in milliseconds. */
  lifeMs = DAY_MS;

  private constructor(
    readonly authority: Authority,
    private readonly own: KeyedCertificate,
  ) {}

  static async make(now = new Date()): Promise<FakeAuthority> {
    const authority = await makeAuthority(now);
    const own = await makeControlPlaneCertificate(authority, {
      now,
      notAfter: new Date(now.getTime() + DAY_MS),
    });
    return new FakeAuthority(authority, own);
  }

  get joinToken(): string {
    return joinTokenText({ secret: 'hfj_any', fingerprint: fingerprintOf(this.authority.certificatePem) });
  }

  server(handler: http.RequestListener): https.Server {
    const { certificatePem: cert, keyPem: key } = this.own;
    const options = {
      cert,
      key,
      ca: this.authority.certificatePem,
      requestCert: true,
      rejectUnauthorized: false,
    };
    return https.createServer(options, handler);
  }

  /** Answers requests about certificates; `undefined` for others. */
  async answer(url: string, text: string): Promise<{ body: object; name?: string } | undefined> {
    const authorities = [this.authority.certificatePem];
    if (url.endsWith('/agent/authorities')) return { body: { authorities } };
    if (!url.endsWith('/agent/identity')) return undefined;
    const { name, request } = joinSchema.parse(JSON.parse(text));
    const key = await readRequest(request);
    if (key === undefined) throw new Error('the agent has sent no request for a certificate');
    const nodeId = crypto.randomUUID();
    const { clusterId } = this;
    const now = new Date();
    const life = { now, notAfter: new Date(now.getTime() + this.lifeMs) };
    const certificate = await signNodeCertificate(this.authority, { nodeId, clusterId, name }, key, life);
    return { body: { nodeId, clusterId, certificate, authorities }, name };
  }
}
