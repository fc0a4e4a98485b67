/** Commands to engines over the agent's own server: checked by the table in core, and passed on unread. */
import crypto from 'node:crypto';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type VolumeId } from '@holdfast/core/model/ids.js';
import { sharedPorts } from '@holdfast/identity/shared-port.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { Engines, type EnginesOptions } from './engines.js';
import { createControlServer } from './http/control-server.js';
import type { Replicas } from './replicas.js';

const SECRET = 'a-secret-of-sixteen';
const SIZE_BYTES = 1024;
const SNAPSHOT_ID = crypto.randomUUID();

const volumeId = asId<VolumeId>(crypto.randomUUID());
let server: FastifyInstance;
let engines: Engines;
/** Messages to the host process, and its answers. */
let told: unknown;
let answer: () => Promise<unknown>;

beforeEach(async () => {
  const call = async (method: string, params: unknown) => {
    if (method === 'start-engine') return { volumeId, epoch: 1, state: 'running' };
    told = params;
    return answer();
  };
  const host = { peer: { call }, silentMs: 0, guests: new Set() };
  // The casts: these calls use nothing else of pool and replicas.
  const pool = { assignHost: () => host, leave: () => undefined } as unknown as EnginesOptions['pool'];
  const replicas = {} as Replicas;
  engines = new Engines({
    pool,
    replicaPool: { all: [] } as unknown as EnginesOptions['replicaPool'],
    hostOfCopy: async () => undefined,
    endpoint: { host: 'node-1', port: 10809, tls: false },
    changed: () => undefined,
  });
  const log = pino({ level: 'silent' });
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
  told = undefined;
  answer = async () => ({ reply: null, sizeBytes: SIZE_BYTES });
});
afterEach(() => server.close());

describe('a command to an engine', () => {
  test('reaches the host process as it was sent, and the reply is passed back as it was given', async () => {
    await startEngine();
    const reply = { anything: ['that', 'an engine says'] };
    answer = async () => ({ reply, sizeBytes: SIZE_BYTES });
    expect(await command('layers', { epoch: 1 })).toEqual({ status: 200, body: { reply } });
    expect(told).toEqual({ volumeId, name: 'layers', ask: { epoch: 1 } });
  });

  test.each([
    { what: 'no entry in the table', name: 'format', ask: { epoch: 1 }, code: 'request.invalid' },
    { what: 'the name of a method of objects', name: 'toString', ask: { epoch: 1 }, code: 'request.invalid' },
    { what: 'an ask of another shape', name: 'revert', ask: { epoch: 1 }, code: 'request.invalid' },
    { what: 'no epoch', name: 'purge', ask: {}, code: 'request.invalid' },
    { what: 'the epoch of another attachment', name: 'purge', ask: { epoch: 2 }, code: 'engine.stale_epoch' },
  ])('with $what is refused before the host process is told', async ({ name, ask, code }) => {
    await startEngine();
    expect(await command(name, ask)).toMatchObject({ body: { code } });
    expect(told).toBeUndefined();
  });

  test('that the engine refuses is refused with the code of the engine', async () => {
    await startEngine();
    answer = () =>
      Promise.reject(new StorageFault('engine.busy', { publicMessage: 'the volume is busy: purging' }));
    const refused = await command('revert', { epoch: 1, snapshotId: SNAPSHOT_ID });
    expect(refused).toMatchObject({ status: 409, body: { code: 'engine.busy' } });
  });

  test('that makes the volume larger has clients told the new size', async () => {
    await startEngine();
    const served = () => engines.find(`pg-data.${volumeId}.a-secret-of-an-attachment`)?.info.sizeBytes;
    answer = async () => ({ reply: null, sizeBytes: 2 * SIZE_BYTES });
    await command('expand', { epoch: 1, sizeBytes: 2 * SIZE_BYTES });
    expect(served()).toBe(2 * SIZE_BYTES);
  });
});

describe('where no engine of the volume runs', () => {
  test.each([
    { name: 'purge', ask: { epoch: 1 }, want: { status: 404, body: { code: 'engine.not_found' } } },
    {
      name: 'cancel-rebuild',
      ask: { epoch: 1, rebuildId: crypto.randomUUID() },
      want: { status: 200, body: { reply: null } },
    },
  ])('$name is answered with $want.status', async ({ name, ask, want }) => {
    expect(await command(name, ask)).toMatchObject(want);
  });

  test('because its process has just ended, cancelling a rebuild is done', async () => {
    await startEngine();
    answer = () =>
      Promise.reject(new StorageFault('agent.unreachable', { publicMessage: 'the host process is gone' }));
    const answered = await command('cancel-rebuild', { epoch: 1, rebuildId: crypto.randomUUID() });
    expect(answered).toEqual({ status: 200, body: { reply: null } });
  });
});

function startEngine(): Promise<unknown> {
  const record = { epoch: 0, dataGeneration: 0, members: [] };
  const common = { volumeName: 'pg-data', attachmentSecret: 'a-secret-of-an-attachment' };
  const spec = { ...common, epoch: 1, sizeBytes: SIZE_BYTES, record, replicas: [], replicaTimeoutMs: 8_000 };
  return engines.start(volumeId, spec);
}

async function command(name: string, ask: object): Promise<{ status: number; body: unknown }> {
  const response = await server.inject({
    method: 'POST',
    url: `/v1/engines/${volumeId}/commands/${name}`,
    headers: { authorization: `Bearer ${SECRET}` },
    payload: ask,
  });
  return { status: response.statusCode, body: response.json() };
}
