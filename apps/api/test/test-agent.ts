import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { CONTROL_PLANE_NAME } from '@holdfast/identity/names.js';
import { makeKey, makeRequest } from '@holdfast/identity/request.js';
import { assertDeclared } from './documented-operations.js';

export type Json = Record<string, unknown> & { items?: Json[] };
export type Answer = { status: number; headers: Record<string, unknown>; body: Json };

/** What a test changes of a request to join. */
export type JoinOptions = {
  token?: string | undefined;
  keyPem?: string;
  controlSecret?: string;
  clock?: Date;
  /** Version of the agents' protocol that it says it speaks; left out: none. */
  protocol?: number;
};

/** An agent as the API sees it: a key, a certificate, and requests over TLS. */
export class TestAgent {
  nodeId = '';
  /** Kept connections, where a test wants the same one again; else each call has its own. */
  connections: https.Agent | undefined;

  constructor(
    private readonly api: { listen(): Promise<number>; readonly seed: { readonly agentToken: string } },
    readonly name: string,
    readonly keyPem: string = makeKey(),
    public certificatePem: string | undefined = undefined,
  ) {}

  /** Joins with the test cluster's join token, another one, or (undefined) with its key alone. */
  async join(options: JoinOptions = {}): Promise<Answer> {
    const token = 'token' in options ? options.token : this.api.seed.agentToken;
    const answer = await this.call('/agent/identity', {
      name: this.name,
      request: await makeRequest(options.keyPem ?? this.keyPem, this.name),
      ...(token === undefined ? {} : { token }),
      controlSecret: options.controlSecret,
      clock: (options.clock ?? new Date()).toISOString(),
      protocol: options.protocol,
    });
    if (answer.status === 200) {
      this.certificatePem = String(answer.body.certificate);
      this.nodeId = String(answer.body.nodeId);
    }
    return answer;
  }

  /** Calls a path under /api/v1 with the certificate that it has, if any. A body that is a text is sent as it is. */
  async call(
    path: string,
    body: object | string,
    method = 'POST',
    further: Record<string, string> = {},
  ): Promise<Answer> {
    const port = await this.api.listen();
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...further,
    };
    const answer = await new Promise<Answer>((resolve, reject) => {
      const request = https.request({
        ...{
          host: '127.0.0.1',
          port,
          path: `/api/v1${path}`,
          method,
          headers,
          agent: this.connections ?? false,
        },
        ...{ rejectUnauthorized: false, servername: CONTROL_PLANE_NAME },
        ...(this.certificatePem === undefined ? {} : { cert: this.certificatePem, key: this.keyPem }),
      });
      request.on('response', async (response) => {
        let received = '';
        for await (const chunk of response.setEncoding('utf8')) received += chunk;
        const { statusCode: status = 0, headers: answered } = response;
        resolve({ status, headers: answered, body: received === '' ? {} : JSON.parse(received) });
      });
      request.on('error', reject);
      request.end(text);
    });
    assertDeclared({ method, url: `/api/v1${path}` }, answer);
    return answer;
  }

  beat(heartbeat: object): Promise<Answer> {
    return this.call('/agent/heartbeat', heartbeat);
  }
}

export function portOf(address: string | AddressInfo | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
