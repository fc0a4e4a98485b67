/** Risk of a cluster through the whole API: one silent node is one cause, with every volume that it concerns counted once. */
import { causeFilter } from '@holdfast/core/policy/cause-filter.js';
import { RISK_CAUSES } from '@holdfast/core/policy/cluster-risk.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { ApiFixture, type Json } from './api-fixture.js';

const SILENT = [
  { type: 'Ready', status: 'False', reason: '', message: '', lastTransitionAt: '2026-01-01T00:00:00Z' },
];
const NONE = { notServed: 0, faulted: 0, unknown: 0, degraded: 0 };

const CAUSE = z.object({
  kind: z.enum(RISK_CAUSES),
  subjectId: z.string().nullable(),
  effects: z.object({
    notServed: z.int(),
    faulted: z.int(),
    unknown: z.int(),
    degraded: z.int(),
  }),
});

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
      volumes: { ...NONE, total: 3, healthy: 1, creating: 0, notServed: 1, degraded: 1 },
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

  test('counts what the silent node holds copies of before each volume has been judged', async () => {
    const { id } = await api.createVolume({ numberOfReplicas: 3 });
    await api.owner.query(`UPDATE volume SET state = 'detached', robustness = 'healthy' WHERE id = $1`, [id]);
    await api.owner.query('UPDATE replica SET healthy_at = now() WHERE volume_id = $1', [id]);
    const known = { ...NONE, total: 4, healthy: 1, creating: 0, notServed: 1, degraded: 1 };
    const placed = async (nodeId: string | undefined, copies: number) => {
      await api.owner.query(
        `UPDATE replica SET node_id = $2, disk_id = (SELECT id FROM disk WHERE node_id = $2 LIMIT 1)
         WHERE id IN (SELECT id FROM replica WHERE volume_id = $1 LIMIT $3)`,
        [id, nodeId, copies],
      );
      return (await risk()).volumes;
    };
    // On a node that answers it has all its copies; with none elsewhere nothing is known of it.
    expect(await placed(nodes[0], 3)).toEqual({ ...known, healthy: 2 });
    expect(await placed(nodes[1], 3)).toEqual({ ...known, unknown: 1 });
    expect(await placed(nodes[0], 2)).toEqual({ ...known, degraded: 2 });
    for (const rows of ['replica WHERE volume_id', 'volume WHERE id'])
      await api.owner.query(`DELETE FROM ${rows} = $1`, [id]);
  });

  test('has for each cause a filter that lists what it counts, also where a volume could count for two', async () => {
    const single = async (placed: string, values: unknown[]) => {
      const { id } = await api.createVolume({ numberOfReplicas: 1 });
      await api.owner.query(`UPDATE replica SET ${placed} WHERE volume_id = $1`, [id, ...values]);
      await show(id, 'degraded');
    };
    await single('node_id = $2, disk_id = (SELECT id FROM disk WHERE node_id = $2 LIMIT 1)', [nodes[0]]);
    await single('node_id = NULL, disk_id = NULL', []);
    await api.createAttachedVolume(nodes[2] ?? '');
    const both = await api.createVolume({ numberOfReplicas: 3 });
    await show(both.id, 'degraded');
    await api.owner.query('UPDATE node SET conditions = $2 WHERE id = $1', [
      nodes[2],
      JSON.stringify(SILENT),
    ]);
    const causes = z.array(CAUSE).parse((await risk()).causes);
    expect(causes.map(({ kind }) => kind).sort()).toEqual(['copies', 'node', 'node', 'placement']);
    const listed: string[] = [];
    for (const cause of causes) {
      const filter = encodeURIComponent(causeFilter(cause, causes));
      const { status, body } = await api.call('GET', `${api.volumes}?filter=${filter}`);
      const { notServed, faulted, unknown, degraded } = cause.effects;
      expect({ status, count: body.items?.length }).toEqual({
        status: 200,
        count: notServed + faulted + unknown + degraded,
      });
      listed.push(...(body.items ?? []).map(({ id }) => String(id)));
    }
    // Each volume that is not healthy stands in one of the lists, and in no other.
    expect(listed).toHaveLength(6);
    expect(new Set(listed).size).toBe(6);
  });
});
