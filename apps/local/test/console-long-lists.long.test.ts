/**
 * Lists of the console that are longer than a page: what is not shown is told, and can be had. The lists are long by rows that nothing
 * in the cluster ends: rebuilds that none may start, and nodes that are silent.
 */
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { findBrowser } from '@holdfast/testkit/browser.js';
import { changeSetting, createVolume } from '@holdfast/testkit/cluster-volumes.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

/** More than the largest page that the API gives. */
const ENDED = 210;
const WAITING = 60;
/** Rows that the page of rebuilds shows at first. */
const ACTIVE_SHOWN = 25;
const ENDED_SHOWN = 50;
const FIRING = 120;
const RESOLVED = 130;

let visit: ConsoleVisit<TestCluster>;
let clusterId: string;
let pool: Pool;
let page: ConsoleVisit['page'];

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  visit = await ConsoleVisit.beginShared(async (cluster) => {
    ({ clusterId } = cluster.local);
    pool = createPool(cluster.stack.ownerUrl, { connectionsMax: 1, applicationName: 'test' });
    await changeSetting(cluster, 'concurrent-rebuild-per-cluster-limit', 0);
    // Of the one a rebuild is more urgent than of the other: it lacks a copy, which no rebuild may make.
    const quietId = await createVolume(cluster, 'quiet', { copies: 1 });
    await cluster.call('PATCH', `/volumes/${quietId}`, { numberOfReplicas: 2 });
    await createVolume(cluster, 'busy', { copies: 2 });
  });
  page = visit.page;
  // The worker has nothing to judge of them.
  await pool.query("UPDATE volume SET reconcile_due_at = '2100-01-01' WHERE cluster_id = $1", [clusterId]);
  await addRebuilds('quiet', 1, { state: 'succeeded', from: '10 hours', copies: 1 });
  await addRebuilds('busy', ENDED, { state: 'succeeded', from: '9 hours', copies: 1 });
  await addRebuilds('busy', WAITING - 1, { state: 'queued', from: '4 hours', copies: 2 });
  await addRebuilds('quiet', 1, { state: 'queued', from: '1 second', copies: 1 });
  await addResolvedAlerts(RESOLVED);
  // One alert is of the rebuilds, which wait for hours.
  await addSilentNodes(FIRING - 1);
  await visit.signIn();
});

afterAll(async () => {
  await pool?.end();
  await visit?.end();
});

const region = (name: string) => page.getByRole('region', { name, exact: true });
const open = (path: string) => page.goto(new URL(path, visit.stack.local.consoleUrl).href);

inBrowser('a list that is longer than a page', () => {
  test("a volume's own rebuilds are told, however many others were rebuilt since", async () => {
    await visit.openVolume('quiet');
    const rebuilds = region('Rebuilds');
    await rebuilds.getByText(/^Place 1 in the queue · priority 1: the last full copy/).waitFor();
    await rebuilds.getByText('Done', { exact: true }).waitFor();
    expect(await page.getByText('None of its copies ever had to be rebuilt.').count()).toBe(0);
    expect(await visit.problems('volume-rebuilds')).toEqual([]);
    await visit.openVolume('busy');
    await rebuilds.getByText('5 shown; there are older ones').waitFor();
    const done = rebuilds.getByText('Done', { exact: true });
    expect(await done.count()).toBe(5);
    await rebuilds.getByRole('button', { name: 'Show older' }).click();
    await done.nth(9).waitFor();
  });

  test('rebuilds stand in the order of the queue, with how many there are, and older ones are had by a button', async () => {
    await open('/rebuilds');
    const active = region('Running and waiting');
    const lines = active.getByText(/^Place \d+ in the queue/);
    await lines.nth(ACTIVE_SHOWN - 1).waitFor();
    expect(await lines.first().textContent()).toContain('Place 1 in the queue · priority 1');
    expect(await lines.nth(1).textContent()).toContain('Place 2 in the queue · priority 2: 2 full copies');
    await active.getByText(`${ACTIVE_SHOWN} shown; there are more: ${WAITING} wait in the queue`).waitFor();
    expect(await visit.problems('rebuilds-long')).toEqual([]);
    for (const shown of [ACTIVE_SHOWN, 2 * ACTIVE_SHOWN]) {
      await active.getByText(`${shown} shown; there are more`).waitFor();
      await active.getByRole('button', { name: 'Show more' }).click();
    }
    await lines.nth(WAITING - 1).waitFor();
    expect(await lines.count()).toBe(WAITING);

    const history = region('History');
    const older = history.getByRole('button', { name: 'Show older' });
    for (let shown = ENDED_SHOWN; shown < ENDED; shown += ENDED_SHOWN) {
      await history.getByText(`${shown} shown; there are older ones`).waitFor();
      await older.click();
    }
    await history.getByRole('link', { name: 'quiet' }).waitFor();
    expect(await history.getByRole('row').count()).toBe(ENDED + 2);
    expect(await older.count()).toBe(0);
  });

  test('all alerts that fire are shown, however many were resolved since, and those by the page', async () => {
    await open('/alerts');
    const now = region('Now');
    await now
      .getByRole('listitem')
      .nth(FIRING - 1)
      .waitFor();
    expect(await now.getByText('Firing', { exact: true }).count()).toBe(FIRING);
    const over = region('Over');
    await over.getByText('100 shown; there are older ones').waitFor();
    expect(await visit.problems('alerts-long')).toEqual([]);
    await over.getByRole('button', { name: 'Show older' }).click();
    await over
      .getByRole('listitem')
      .nth(RESOLVED - 1)
      .waitFor();
    expect(await over.getByText('Resolved', { exact: true }).count()).toBe(RESOLVED);
  });

  test('no page threw an error in all this', () => {
    expect(visit.errors).toEqual([]);
  });
});

type Rebuilds = { state: 'queued' | 'succeeded'; from: string; copies: number };

/** The first of them at a time that was so long ago, and each a minute after the one before. */
async function addRebuilds(volume: string, count: number, { state, from, copies }: Rebuilds): Promise<void> {
  await pool.query(
    `INSERT INTO rebuild (id, organization_id, cluster_id, volume_id, target_replica_id, target_node_id, state, phase,
       healthy_copies, size_bytes, bytes, paused, queued_at, started_at, finished_at)
     SELECT gen_random_uuid(), v.organization_id, v.cluster_id, v.id, gen_random_uuid(), n.id, $3, 'copying', $5, 4096,
       '{"total":4096,"compared":0,"skipped":0,"sent":0,"written":0}', false, at, CASE WHEN ended THEN at END,
       CASE WHEN ended THEN at END
     FROM volume v, node n, generate_series(0, $2 - 1) i,
       LATERAL (SELECT now() - $4::interval + i * interval '1 minute' AS at, $3 = 'succeeded' AS ended) times
     WHERE v.name = $1 AND n.name = 'node-1' AND v.cluster_id = $6 AND n.cluster_id = $6`,
    [volume, count, state, from, copies, clusterId],
  );
}

/** Each a minute after the one before. */
async function addResolvedAlerts(count: number): Promise<void> {
  await pool.query(
    `INSERT INTO alert (id, organization_id, cluster_id, rule, severity, subject_kind, subject_id, subject_name, message,
       effects, since, changed_at, resolved_at)
     SELECT gen_random_uuid(), c.organization_id, c.id, 'NodeSilent', 'error', 'node', gen_random_uuid()::text, 'resolved-' || i,
       'resolved alert ' || i, '{"copies":0,"volumesOnLastCopy":0,"volumesFaulted":0,"volumesServedThere":0}',
       now() - interval '4 hours' + i * interval '1 minute', now(), now()
     FROM cluster c, generate_series(0, $1 - 1) i WHERE c.id = $2`,
    [count, clusterId],
  );
}

/** Nodes that an alert tells of each: like node-3, and not ready since an hour ago. */
async function addSilentNodes(count: number): Promise<void> {
  const [lastTransitionAt, reason] = [new Date(Date.now() - 3_600_000).toISOString(), 'AgentGone'];
  const conditions = [{ type: 'Ready', status: 'False', reason, message: '', lastTransitionAt }];
  await pool.query(
    `INSERT INTO node SELECT (jsonb_populate_record(n, jsonb_build_object(
       'id', gen_random_uuid(), 'name', 'silent-' || i, 'conditions', $3::jsonb, 'last_heartbeat_at', $4::text))).*
     FROM node n, generate_series(1, $1) i WHERE n.name = 'node-3' AND n.cluster_id = $2`,
    [count, clusterId, JSON.stringify(conditions), lastTransitionAt],
  );
}
