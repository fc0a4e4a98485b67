/** Commands at the largest sizes that are lawful, over the agent's own server, with its limits. */
import crypto from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { MIB } from '@holdfast/core/model/bytes.js';
import type { Answer, Ask } from '@holdfast/data-engine/protocol/commands.js';
import { LAYERS_MAX } from '@holdfast/data-engine/protocol/layers.js';
import type { CopyUse } from '@holdfast/identity/copy-secret.js';
import { sharedPorts } from '@holdfast/identity/shared-port.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import type { Engines } from './engines.js';
import { createControlServer } from './http/control-server.js';
import { connectByHttp } from './http-replica-control.js';
import type { Replicas } from './replicas.js';

const SECRET = 'a-secret-of-sixteen';
const RUNS_MAX = 4096;
const TIB = 1024 * 1024 * MIB;

let server: FastifyInstance;
let controlUrl: string;
let received: unknown;
let reply: unknown;
const replicaId = crypto.randomUUID();

beforeEach(async () => {
  // The casts: these calls use nothing else of the two.
  const replicas = {
    useOf: (id: string, secret: string): CopyUse | undefined =>
      id === replicaId && secret === SECRET ? { kind: 'engine', epoch: 1, nodeId: replicaId } : undefined,
    damageOf: () => undefined,
    command: async (_id: string, _name: string, ask: unknown) => {
      received = ask;
      return reply;
    },
  } as unknown as Replicas;
  const log = pino({ level: 'silent' });
  const engines = {} as Engines;
  server = createControlServer({
    replicas,
    engines,
    controlSecret: SECRET,
    ports: sharedPorts(),
    isTlsOnly: false,
    ownCluster: () => undefined,
    isReady: () => true,
    log,
  });
  controlUrl = await server.listen({ host: '127.0.0.1', port: 0 });
  reply = null;
});
afterEach(() => server.close());

const control = (secret = SECRET) => connectByHttp({ replicaId, nodeId: replicaId, controlUrl, secret });
const pairs = (count: number, unit: number): [number, number][] =>
  Array.from({ length: count }, (_, index) => [(64 * TIB) / unit - 2 * index - 2, 1]);
const layers = () =>
  Array.from({ length: LAYERS_MAX }, (_, index) => ({
    id: crypto.randomUUID(),
    name: `${'snäpshot "of" many '.repeat(13)}${index}`.slice(0, 256),
  }));

/** Compares millions of numbers at once: `toEqual` looks at one after the other. */
const expectSame = (a: unknown, b: unknown) => expect(isDeepStrictEqual(a, b)).toBe(true);

describe('the largest lawful command', () => {
  test('prepare: all layers with all runs of a drop mark', async () => {
    const ask: Ask<'prepare'> = {
      epoch: 1,
      rebuildId: crypto.randomUUID(),
      headParentId: null,
      sizeBytes: 64 * TIB,
      layers: layers().map((layer) => ({
        ...layer,
        origin: 'system',
        createdAt: '2026-01-01T00:00:00Z',
        parentId: null,
        sizeBytes: 64 * TIB,
        removed: false,
        from: null,
        drop: { replicaIds: [replicaId], regions: pairs(RUNS_MAX, 1), regionBytes: 16 * MIB, sinceEpoch: 1 },
      })),
    };
    await control().command('prepare', ask);
    expectSame(received, ask);
  });

  test('pull: all layers with the ranges of two maps', async () => {
    const ask: Ask<'pull'> = {
      epoch: 1,
      rebuildId: crypto.randomUUID(),
      sources: [
        { replicaId, nodeId: replicaId, controlUrl, nbdHost: '127.0.0.1', nbdPort: 1, secret: SECRET },
      ],
      layers: layers().map((layer) => ({
        ...layer,
        method: 'delta',
        reason: 'r'.repeat(1024),
        heldBytes: TIB,
        ranges: pairs(2 * RUNS_MAX, 1),
      })),
      blockHash: 'blake3',
      tuning: { bandwidthBytesPerSecond: null, paused: false },
      attempt: 1,
    };
    await control().command('pull', ask);
    expectSame(received, ask);
  });

  test('intent and clear-intent: every second region of 64 TiB', async () => {
    const marker = { life: crypto.randomUUID(), changes: 7 };
    const regions = pairs((64 * TIB) / (16 * MIB) / 2, 16 * MIB);
    const marked: Answer<'intent'> = { regionBytes: 16 * MIB, regions, marker };
    reply = marked;
    const answer = await control().command('intent', { epoch: 1 });
    expect(answer.regions.length).toBe(regions.length);
    expectSame(answer, marked);
    reply = null;
    const ask = { epoch: 1, marker, regions };
    await control().command('clear-intent', ask);
    expectSame(received, ask);
  });

  test('chain: all layers with all runs', async () => {
    reply = { layers: layers().map((layer) => ({ ...layer, drop: { regions: pairs(RUNS_MAX, 1) } })) };
    expectSame(await control().command('chain', { epoch: 1 }), reply);
  });
});

test('pages are taken and given with the secret of the copy only, and in full only', async () => {
  const ask = { epoch: 1, regions: pairs(20_000, 1), marker: { life: 'x', changes: 1 } };
  received = undefined;
  await expect(control('another-secret-of-it').command('clear-intent', ask)).rejects.toMatchObject({
    code: 'auth.invalid',
  });
  const url = `${controlUrl}/v1/replicas/${replicaId}/commands/clear-intent`;
  const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ pagedMessage: crypto.randomUUID() });
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(412);
  expect(received).toBeUndefined();
});
