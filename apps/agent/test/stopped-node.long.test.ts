/**
 * A copy whose process is stopped, not dead, so that its connections stay open. It costs users one
 * `engine-replica-timeout`, once, and no error.
 */
import crypto from 'node:crypto';
import type { NbdClient } from '@holdfast/data-engine/nbd/client.js';
import { contiguous } from '@holdfast/data-engine/nbd/export.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import {
  AgentCluster,
  type AgentProcess,
  attach,
  connectTo,
  createVolume,
  type TestVolume,
} from './agents.js';

const MIB = 1024 * 1024;
/** The engine's limit for a silent copy: long beside what a write takes on a busy machine. */
const TIMEOUT_MS = 3000;
/** Duration above which a request has waited for the stopped copy: the whole timeout, short of one tick of the clock. */
const WAITED_MS = TIMEOUT_MS - 100;

const cluster = new AgentCluster();
beforeAll(() => cluster.start(3));
afterAll(() => cluster.stop());

const stopped: number[] = [];
afterEach(() => {
  for (const pid of stopped.splice(0)) process.kill(pid, 'SIGCONT');
});

describe('a stopped process that holds a copy', () => {
  test('costs a writer one timeout and no error; what was acknowledged meanwhile is there', async () => {
    const { volume, client } = await started();
    const block = (index: number) => Buffer.alloc(4096, index + 1);
    const write = (index: number) =>
      client.write(index * 4096, [block(index)], 4096, { fua: index % 10 === 9 });
    await durationsMs(5, write);
    await stopReplicaHosts(node(2));
    expectOneWait(await durationsMs(60, write));
    expect(await modesOf(volume)).toEqual(['RW', 'RW', 'ERR']);
    const read = contiguous(await client.read(0, 60 * 4096));
    expect(read.equals(Buffer.concat(Array.from({ length: 60 }, (_, i) => block(i))))).toBe(true);
    await node(0).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`);
  });

  test('costs a reader one timeout, whichever copies its reads go to', async () => {
    // None beside the engine: a read would ask no other.
    const { volume, client } = await started([node(1), node(2)]);
    const data = crypto.randomBytes(16 * MIB);
    await client.write(0, [data], data.length, { fua: true });
    await stopReplicaHosts(node(1));
    const read = async (index: number) => {
      const at = index * MIB;
      expect(contiguous(await client.read(at, MIB)).equals(data.subarray(at, at + MIB))).toBe(true);
    };
    expectOneWait(await durationsMs(16, read));
    expect(await modesOf(volume)).toEqual(['ERR', 'RW']);
    await node(0).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`);
  });

  test('costs everything that was on its way the same timeout, not one each', async () => {
    const { volume, client } = await started();
    await client.write(0, [Buffer.alloc(MIB, 1)], MIB, { fua: true });
    await stopReplicaHosts(node(2));
    const [tookMs = 0] = await durationsMs(1, () =>
      Promise.all(
        Array.from({ length: 64 }, async (_, i) => {
          if (i % 4 === 0) await client.flush();
          else if (i % 4 === 1) await client.read(i * MIB, 64 * 1024);
          else await client.write(i * MIB, [Buffer.alloc(65536, i)], 65536, { fua: i % 4 === 2 });
        }),
      ),
    );
    expectOneWait([tookMs]);
    expect(await modesOf(volume)).toEqual(['RW', 'RW', 'ERR']);
    // Afterwards no request waits any more.
    const later = await durationsMs(20, (i) =>
      client.write(i * MIB, [Buffer.alloc(4096, 9)], 4096, { fua: true }),
    );
    expect(later.filter((ms) => ms > WAITED_MS)).toEqual([]);
    await node(0).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`);
  });

  test('that goes on later is not believed: its record is older than that of the others', async () => {
    const { volume, client } = await started();
    await client.write(0, [Buffer.alloc(MIB, 1)], MIB, { fua: true });
    await stopReplicaHosts(node(2));
    await client.write(0, [Buffer.alloc(MIB, 2)], MIB, { fua: true });
    expect(await modesOf(volume)).toEqual(['RW', 'RW', 'ERR']);
    await node(0).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`);
    for (const pid of stopped.splice(0)) process.kill(pid, 'SIGCONT');
    const opened = await Promise.all(
      volume.replicas.map(async ({ agent, address }) => {
        const { body } = await agent.call('POST', `/v1/replicas/${address.replicaId}/open`, { epoch: 2 });
        return body.record as { epoch: number; dataGeneration: number; members: string[] };
      }),
    );
    const [first, second, third] = opened;
    expect(second).toEqual(first);
    expect(first?.members).toHaveLength(2);
    expect(third?.dataGeneration).toBeLessThan(first?.dataGeneration ?? 0);
    expect(third?.members).toHaveLength(3);
  });
});

function node(index: number): AgentProcess {
  const agent = cluster.agents[index];
  if (agent === undefined) throw new Error(`no agent ${index}`);
  return agent;
}

async function started(holders = cluster.agents): Promise<{ volume: TestVolume; client: NbdClient }> {
  const volume = await createVolume(holders, 64 * MIB);
  const client = await connectTo(await attach(volume, node(0), 1, { replicaTimeoutMs: TIMEOUT_MS }));
  return { volume, client };
}

/** Stops the processes that hold the node's copies; the agent itself goes on answering. */
async function stopReplicaHosts(agent: AgentProcess): Promise<void> {
  for (const pid of await agent.hostPids('replica-host')) {
    process.kill(pid, 'SIGSTOP');
    stopped.push(pid);
  }
  expect(stopped.length).toBeGreaterThan(0);
}

async function modesOf({ volumeId, replicas }: TestVolume): Promise<(string | undefined)[]> {
  const beat = await cluster.api.until('node-1', ({ engines }) =>
    engines.some(
      (engine) => engine.volumeId === volumeId && engine.replicas.some(({ mode }) => mode === 'ERR'),
    ),
  );
  const engine = beat.engines.find((one) => one.volumeId === volumeId);
  return replicas.map(
    ({ address }) => engine?.replicas.find(({ replicaId }) => replicaId === address.replicaId)?.mode,
  );
}

/** Durations of the steps, run one after the other. */
async function durationsMs(count: number, step: (index: number) => Promise<unknown>): Promise<number[]> {
  const durations: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const beganMs = performance.now();
    await step(i);
    durations.push(performance.now() - beganMs);
  }
  return durations;
}

function expectOneWait(durations: readonly number[]): void {
  const waits = durations.filter((ms) => ms > WAITED_MS);
  expect(waits).toHaveLength(1);
}
