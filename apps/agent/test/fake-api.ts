import type http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Heartbeat, heartbeatSchema } from '@holdfast/core/model/agent-protocol.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { Authority } from '@holdfast/identity/authority.js';
import { FakeAuthority } from '../bench/fake-authority.js';

const POLL_MS = 25;
/** Ends a wait for a heartbeat that never comes. */
const HANG_MS = 300_000;

/** The API as agents see it: takes heartbeats and records, and remembers both. */
export class FakeApi {
  readonly heartbeats = new Map<string, Heartbeat>();
  readonly records: CopyRecord[] = [];
  /** Status of the answer to a record. */
  recordStatus = 200;
  /** Status of the answer to a heartbeat. */
  heartbeatStatus = 200;
  /** Code in such an answer. */
  heartbeatCode = 'store.unavailable';
  /** Names that agents have asked certificates for, in order. */
  readonly joined: string[] = [];
  private fake: FakeAuthority | undefined;
  private server: http.Server | undefined;

  async start(): Promise<string> {
    this.fake = await FakeAuthority.make();
    const server = this.fake.server((request, response) => this.serve(request, response));
    this.server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    // The cast: a TCP server that listens has such an address.
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
  }

  /** Life of certificates from now on, in milliseconds. */
  set certificateLifeMs(lifeMs: number) {
    if (this.fake !== undefined) this.fake.lifeMs = lifeMs;
  }

  /** For HOLDFAST_AGENT_TOKEN. */
  get joinToken(): string {
    return this.started.joinToken;
  }

  /** What signs certificates here. */
  get clusterId(): string {
    return this.started.clusterId;
  }

  get authority(): Authority {
    return this.started.authority;
  }

  private get started(): FakeAuthority {
    if (this.fake === undefined) throw new Error('the fake API was started');
    return this.fake;
  }

  async stop(): Promise<void> {
    const { server } = this;
    server?.closeAllConnections();
    await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
  }

  /** Waits for a heartbeat of the node that satisfies the condition. */
  async until(node: string, condition: (beat: Heartbeat) => boolean): Promise<Heartbeat> {
    const deadline = Date.now() + HANG_MS;
    for (;;) {
      const beat = this.heartbeats.get(node);
      if (beat !== undefined && condition(beat)) return beat;
      if (Date.now() > deadline) {
        throw new Error(`no such heartbeat of ${node}; the last was ${JSON.stringify(beat?.engines)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  private async serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const certificate = await this.fake?.answer(request.url ?? '', text);
    if (certificate !== undefined) {
      if (certificate.name !== undefined) this.joined.push(certificate.name);
      return answer(response, 200, certificate.body);
    }
    const body: unknown = JSON.parse(text);
    if (request.url?.endsWith('/agent/heartbeat') === true) {
      if (this.heartbeatStatus !== 200)
        return answer(response, this.heartbeatStatus, { code: this.heartbeatCode });
      const beat = heartbeatSchema.parse(body);
      this.heartbeats.set(beat.node.name, beat);
      answer(response, 200, { nodeId: crypto.randomUUID(), intervalMs: 500 });
      return;
    }
    if (this.recordStatus === 200 && typeof body === 'object' && body !== null && 'record' in body) {
      // The cast: the test knows what the agent has sent.
      this.records.push(body.record as CopyRecord);
    }
    answer(response, this.recordStatus, { code: 'engine.stale_epoch', message: 'replaced' });
  }
}

function answer(response: http.ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
