/** The commands that are largest of all, with all layers and all their ranges, over the agent's own server. */
import crypto from 'node:crypto';
import { MIB } from '@holdfast/core/model/bytes.js';
import type { Answer, Ask } from '@holdfast/data-engine/protocol/commands.js';
import { LAYERS_MAX } from '@holdfast/data-engine/protocol/layers.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { CommandServer, expectSame, pairs, SECRET } from '../test/command-server.js';

const RUNS_MAX = 4096;
const TIB = 1024 * 1024 * MIB;

const server = new CommandServer();
beforeEach(() => server.start());
afterEach(() => server.stop());

const layers = () =>
  Array.from({ length: LAYERS_MAX }, (_, index) => ({
    id: crypto.randomUUID(),
    name: `${'snäpshot "of" many '.repeat(13)}${index}`.slice(0, 256),
  }));

describe('the largest lawful command', () => {
  test('intent and clear-intent: every second region of 64 TiB', async () => {
    const marker = { life: crypto.randomUUID(), changes: 7 };
    const regions = pairs((64 * TIB) / (16 * MIB) / 2, 16 * MIB);
    const marked: Answer<'intent'> = { regionBytes: 16 * MIB, regions, marker };
    server.reply = marked;
    const answer = await server.control().command('intent', { epoch: 1 });
    expect(answer.regions.length).toBe(regions.length);
    expectSame(answer, marked);
    server.reply = null;
    const ask = { epoch: 1, marker, regions };
    await server.control().command('clear-intent', ask);
    expectSame(server.received, ask);
  });

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
        drop: {
          replicaIds: [server.replicaId],
          regions: pairs(RUNS_MAX, 1),
          regionBytes: 16 * MIB,
          sinceEpoch: 1,
        },
      })),
    };
    await server.control().command('prepare', ask);
    expectSame(server.received, ask);
  });

  test('pull: all layers with the ranges of two maps', async () => {
    const ask: Ask<'pull'> = {
      epoch: 1,
      rebuildId: crypto.randomUUID(),
      sources: [{ ...placeOf(server), nbdHost: '127.0.0.1', nbdPort: 1, secret: SECRET }],
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
    await server.control().command('pull', ask);
    expectSame(server.received, ask);
  });

  test('chain: all layers with all runs', async () => {
    server.reply = { layers: layers().map((layer) => ({ ...layer, drop: { regions: pairs(RUNS_MAX, 1) } })) };
    expectSame(await server.control().command('chain', { epoch: 1 }), server.reply);
  });
});

function placeOf({ replicaId, controlUrl }: CommandServer) {
  return { replicaId, nodeId: replicaId, controlUrl };
}
