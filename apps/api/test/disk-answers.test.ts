/** How fast a disk answers its agent, through the whole API: kept of each whole report, and no reason for another one. */
import { randomUUID } from 'node:crypto';
import { asId, type DiskId } from '@holdfast/core/model/ids.js';
import { aDiskReport, aHeartbeat } from '@holdfast/testkit/builders.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { OwnApi } from './own-api.js';
import type { TestAgent } from './test-agent.js';

const TIMES = { calls: 60, p50Ms: 3, p99Ms: 900, maxMs: 7_000, oldestMs: 0 };
const DISK = asId<DiskId>(randomUUID());
const BOOT = randomUUID();

let api: OwnApi;
let agent: TestAgent;

beforeAll(async () => {
  api = await OwnApi.begin({ heartbeatIntervalMs: 500 });
  agent = await api.agent('node-1');
});
afterAll(() => api?.stop());

async function report(answers: typeof TIMES | undefined) {
  const disks = [aDiskReport(DISK, { copiesListed: true, ...(answers === undefined ? {} : { answers }) })];
  const answer = await agent.beat(aHeartbeat('node-1', { node: { bootId: BOOT }, disks }));
  expect(answer.status).toBe(200);
  return answer.body;
}

async function shown() {
  const path = `/clusters/${api.seed.clusterId}/nodes/${agent.nodeId}/disks/${DISK}`;
  return (await api.call('GET', path)).body;
}

test('a disk of which its agent does not say it has none', async () => {
  await report(undefined);
  expect(await shown()).toMatchObject({ answers: null });
});

test('the distribution is shown as it was reported, and costs no version', async () => {
  const { version } = await shown();
  await report(TIMES);
  expect(await shown()).toMatchObject({ answers: { ...TIMES, at: expect.any(String) }, version });
});

test('a call that is owed gets older while nothing else is said, and is over with the report that says so', async () => {
  await report({ ...TIMES, oldestMs: 5_000 });
  await api.owner.query(
    `UPDATE disk SET answers = jsonb_set(answers, '{at}', to_jsonb(now() - interval '60 seconds')) WHERE id = $1`,
    [DISK],
  );
  const { answers } = await shown();
  expect(answers).toMatchObject({ oldestMs: expect.any(Number) });
  expect((answers as { oldestMs: number }).oldestMs).toBeGreaterThanOrEqual(65_000);
  await report(TIMES);
  expect(await shown()).toMatchObject({ answers: { oldestMs: 0 } });
});

test('storing it ends no report: the next heartbeat may be a short one', async () => {
  const before = await api.owner.query('SELECT count(*)::int AS notes FROM stale_report');
  await report({ ...TIMES, maxMs: 9_000 });
  const after = await api.owner.query('SELECT count(*)::int AS notes FROM stale_report');
  expect(after.rows[0].notes).toBeLessThanOrEqual(before.rows[0].notes);
});
