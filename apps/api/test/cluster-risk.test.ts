/** Risk of a cluster through the whole API: one silent node is one cause, with every volume that it concerns counted once. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';

const SILENT = [
  { type: 'Ready', status: 'False', reason: '', message: '', lastTransitionAt: '2026-01-01T00:00:00Z' },
];
const NONE = { notServed: 0, faulted: 0, unknown: 0, degraded: 0 };

let api: ApiFixture;
let nodes: string[];

beforeAll(async () => {
  api = await ApiFixture.start();
  nodes = [];
  for (const zone of ['1', '2', '3']) nodes.push(await api.node(`node-${zone}`, zone));
});
afterAll(() => api?.stop());

async function risk(): Promise<Json> {
  return (await api.call('GET', `/clusters/${api.seed.clusterId}/risk`)).body;
}

async function show(volumeId: unknown, robustness: string): Promise<void> {
  await api.owner.query('UPDATE volume SET robustness = $2 WHERE id = $1', [volumeId, robustness]);
}

describe('the risk of a cluster', () => {
  test('is none without volumes, and says so', async () => {
    expect(await risk()).toMatchObject({ verdict: 'safe', volumes: { total: 0 }, causes: [] });
  });

  test('names the silent node, and counts what it serves apart from what only has copies there', async () => {
    const served = await api.createAttachedVolume(nodes[1] ?? '');
    const holding = await api.createAttachedVolume(nodes[0] ?? '');
    const fine = await api.createAttachedVolume(nodes[0] ?? '');
    await show(served.id, 'unknown');
    await show(holding.id, 'degraded');
    await show(fine.id, 'healthy');
    await api.owner.query('UPDATE node SET conditions = $2 WHERE id = $1', [
      nodes[1],
      JSON.stringify(SILENT),
    ]);
    const { volumes, verdict, causes } = await risk();
    expect({ volumes, verdict }).toEqual({
      volumes: { ...NONE, total: 3, healthy: 1, notServed: 1, degraded: 1 },
      verdict: 'stuck',
    });
    expect(causes).toMatchObject([
      {
        kind: 'node',
        name: 'node-2',
        since: '2026-01-01T00:00:00.000Z',
        effects: { notServed: 1, degraded: 1 },
        examples: [{ id: served.id }, { id: holding.id }],
      },
    ]);
  });
});
