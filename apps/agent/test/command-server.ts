/** An agent's own server, with its limits, in front of a copy that notes what it gets and answers what it is told. */
import crypto from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { CopyUse } from '@holdfast/identity/copy-secret.js';
import { sharedPorts } from '@holdfast/identity/shared-port.js';
import { expect } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import type { Engines } from '../src/engines.js';
import { createControlServer } from '../src/http/control-server.js';
import { connectByHttp } from '../src/http-replica-control.js';
import type { Replicas } from '../src/replicas.js';

export const SECRET = 'a-secret-of-sixteen';

export class CommandServer {
  readonly replicaId = crypto.randomUUID();
  /** What the last command asked. */
  received: unknown;
  reply: unknown = null;
  controlUrl = '';
  private server: FastifyInstance | undefined;

  async start(): Promise<void> {
    // The casts: these calls use nothing else of the two.
    const replicas = {
      useOf: (id: string, secret: string): CopyUse | undefined =>
        id === this.replicaId && secret === SECRET
          ? { kind: 'engine', epoch: 1, nodeId: this.replicaId }
          : undefined,
      damageOf: () => undefined,
      command: async (_id: string, _name: string, ask: unknown) => {
        this.received = ask;
        return this.reply;
      },
    } as unknown as Replicas;
    this.server = createControlServer({
      replicas,
      engines: {} as Engines,
      controlSecret: SECRET,
      ports: sharedPorts(),
      isTlsOnly: false,
      ownCluster: () => undefined,
      isReady: () => true,
      log: pino({ level: 'silent' }),
    });
    this.controlUrl = await this.server.listen({ host: '127.0.0.1', port: 0 });
  }

  async stop(): Promise<void> {
    await this.server?.close();
  }

  control(secret = SECRET): ReturnType<typeof connectByHttp> {
    const { replicaId, controlUrl } = this;
    return connectByHttp({ replicaId, nodeId: replicaId, controlUrl, secret });
  }
}

/** Ranges of one unit each, with a gap after each, up to the end of 64 TiB. */
export function pairs(count: number, unitBytes: number): [number, number][] {
  const units = 2 ** 46 / unitBytes;
  return Array.from({ length: count }, (_, index) => [units - 2 * index - 2, 1]);
}

/** Compares millions of numbers at once: `toEqual` looks at one after the other. */
export function expectSame(a: unknown, b: unknown): void {
  expect(isDeepStrictEqual(a, b)).toBe(true);
}
