/**
 * The console when a node dies that serves or holds six hundred volumes: one cause with its effects counted, in a real browser on a
 * real stack. The volumes are rows in Postgres, at places where the stack has made one of each kind.
 */
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { findBrowser } from '@holdfast/testkit/browser.js';
import { createVolume } from '@holdfast/testkit/cluster-volumes.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { copyVolume } from '@holdfast/testkit/copied-volumes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const DESK = { width: 1360, height: 900 };
const PHONE = { width: 390, height: 844 };
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

const SERVED = 450;
const HELD = 150;
/** Nodes beyond those that the overview draws one by one. */
const SPARES = 60;
/** Screens: a page whose purpose is an overview is not a scroll through every volume. */
const SCREENS_MAX = 3;

let visit: ConsoleVisit<TestCluster>;
let servedId: string;
let heldId: string;
let pool: Pool;
let page: ConsoleVisit['page'];

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  visit = await ConsoleVisit.beginShared(async (cluster) => {
    servedId = await createVolume(cluster, 'served', { attachTo: 'node-1' });
    heldId = await createVolume(cluster, 'held');
  });
  pool = createPool(visit.stack.stack.ownerUrl, { connectionsMax: 1, applicationName: 'test' });
  page = visit.page;
  await visit.signIn();
});

afterAll(async () => {
  await visit?.end();
  await pool?.end();
});

const isOne = (count: number) => count === 1;
const region = (name: string) => page.getByRole('region', { name, exact: true });

inBrowser('the console', () => {
  test('shows a dead node with six hundred volumes as one cause, with its effects counted', async () => {
    const names = (kind: string, count: number) => Array.from({ length: count }, (_, n) => `${kind}-${n}`);
    await copyVolume(pool, { volumeId: servedId, names: names('served', SERVED - 1) });
    await copyVolume(pool, { volumeId: heldId, names: names('held', HELD - 1) });
    visit.stack.killAgent('node-1');
    // All are counted as soon as its silence is known, before each has been judged.
    const silences = () => countOf("event WHERE type = 'NodeNotReady'");
    await eventually('the silence of node-1 is known', silences, (count) => count > 0);
    // Its process is found to be gone, long before `agent-heartbeat-timeout` is over.
    expect(await countOf(`node WHERE conditions @> '[{"reason": "AgentGone"}]'`)).toBe(1);
    const atRisk = region('Is any data at risk?');
    const words = `node-1 does not answer: ${SERVED.toLocaleString('en')} not served, ${HELD} degraded`;
    await atRisk.getByText(words).waitFor();
    // While events of six hundred volumes come in, a list comes as on a quiet day: none is held back by being asked for anew.
    await page.getByRole('link', { name: 'Volumes' }).first().click();
    await page
      .getByText(/shown of 600$/)
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Overview' }).first().click();
    const unjudged = () => countOf("volume WHERE robustness = 'healthy'");
    await eventually('each has been judged', unjudged, (count) => count === 0);
    // By then the worker says of each what was counted before.
    await page.reload();
    await atRisk.getByText(words).waitFor();
    await region('When will it be safe?').getByText('Not without you').waitFor();
    await visit.picture('large-loss-overview');
    expect(await screens()).toBeLessThan(SCREENS_MAX);
    await page.setViewportSize(PHONE);
    expect(await visit.problems('large-loss-phone')).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
    await page.setViewportSize(DESK);
  });

  test('folds what follows from the silence of the node under its one event', async () => {
    const events = region('Recent events');
    const line = events.getByRole('listitem').filter({ hasText: 'node node-1 does not answer' }).first();
    await line.getByText(/^(60\d|[4-9]\d\d|1,\d{3}) events follow from it$/).waitFor();
    expect(await events.getByText(/volume .* is (unknown|degraded)/i).count()).toBe(0);
    await line.getByText('events follow from it').click();
    await line
      .getByText(/volume .* is (unknown|degraded), it was healthy$/i)
      .first()
      .waitFor();
    expect(await visit.problems('large-loss')).toEqual([]);
    await line.getByRole('link', { name: /^All / }).click();
    await page.getByRole('heading', { name: 'Events', exact: true }).waitFor();
    await page
      .getByText(/is (unknown|degraded), it was healthy$/)
      .first()
      .waitFor();
    expect(await screens()).toBeLessThan(2 * SCREENS_MAX);
  });

  test('lists what is worst first, a page at a time', async () => {
    await page.getByRole('link', { name: 'Volumes' }).first().click();
    await page
      .getByRole('row', { name: /served/ })
      .first()
      .waitFor();
    await page
      .getByText(/shown of 600$/)
      .first()
      .waitFor();
  });

  test('sums zones up where there are more nodes than one can look at, and finds any by its name', async () => {
    const { clusterId } = visit.stack.local;
    await pool.query(
      `INSERT INTO node SELECT (jsonb_populate_record(n, jsonb_build_object('id', gen_random_uuid(), 'name', 'spare-' || i))).*
         FROM node n, generate_series(1, $1) i WHERE n.name = 'node-3' AND n.cluster_id = $2`,
      [SPARES, clusterId],
    );
    await pool.query(
      `INSERT INTO disk SELECT (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid(), 'node_id', s.id))).*
         FROM disk d JOIN node n ON n.id = d.node_id AND n.name = 'node-3' AND n.cluster_id = $1,
           node s WHERE s.name LIKE 'spare-%' AND s.cluster_id = $1`,
      [clusterId],
    );
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await region('Zone zone-c')
      .getByText(`${SPARES + 1} nodes`)
      .waitFor();
    expect(
      await region('Zone zone-c')
        .getByText(/^spare-/)
        .count(),
    ).toBeLessThan(SPARES / 2);
    expect(await visit.problems('many-nodes-overview')).toEqual([]);
    await page.getByRole('link', { name: 'Nodes and disks' }).first().click();
    await page.getByLabel('Search nodes').fill(`spare-${SPARES}`);
    const found = page.getByRole('region', { name: /^spare-/ });
    await eventually('the list is the one that was asked for', () => found.count(), isOne);
    await region(`spare-${SPARES}`).waitFor();
  });

  test('opens a zone to its nodes and disks, each with its copies counted, a page in the place of the one before', async () => {
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await page.getByRole('button', { name: 'Nodes and disks of zone-c' }).press('Enter');
    const nodes = region('Nodes of zone-c');
    await nodes.getByText(`1 to 12 of ${SPARES + 1}`).waitFor();
    const cards = nodes.getByRole('link', { name: /^(spare|node)-\d+$/ });
    expect(await cards.count()).toBe(12);
    await nodes.getByRole('button', { name: 'Later' }).press('Enter');
    await nodes.getByText(`13 to 24 of ${SPARES + 1}`).waitFor();
    expect(await cards.count()).toBe(12);
    expect(await screens()).toBeLessThan(SCREENS_MAX);
    await visit.queryBecomes('?zone=zone-c');
    expect(await visit.problems('many-nodes-zone')).toEqual([]);

    const { rows } = await pool.query<{ id: string; name: string; copies: number }>(
      `SELECT d.id, d.name, count(*)::int AS copies FROM disk d JOIN node n ON n.id = d.node_id AND n.id = $1
         JOIN replica r ON r.disk_id = d.id JOIN volume v ON v.id = r.volume_id GROUP BY d.id
         ORDER BY count(*) FILTER (WHERE v.attached_node_id IS NULL) DESC LIMIT 1`,
      [visit.stack.agent('node-3').nodeId],
    );
    const [disk] = rows;
    if (disk === undefined) throw new Error('node-3 has no disk');
    await pool.query(
      `UPDATE replica SET failed_at = now() WHERE id IN (
           SELECT r.id FROM replica r JOIN volume v ON v.id = r.volume_id AND v.attached_node_id IS NULL
           WHERE r.disk_id = $1 LIMIT 2)`,
      [disk.id],
    );
    await nodes.getByLabel('Search nodes of zone-c').fill('node-3');
    const copies = disk.copies.toLocaleString('en');
    const link = nodes.getByRole('link', { name: new RegExp(`^${disk.name} ?${copies} copies`) });
    await link.getByText('✕ 2').waitFor();
    await link.getByText(`✓ ${(disk.copies - 2).toLocaleString('en')}`).waitFor();
    await eventually('the list is the one that was asked for', () => cards.count(), isOne);
    await link.press('Enter');
    await page.getByRole('heading', { name: disk.name, level: 1 }).waitFor();
    await page.goBack();
    await nodes.getByText(`1 to 12 of ${SPARES + 1}`).waitFor();
  });

  test('reads on no page all nodes or all disks', async () => {
    const asked: URL[] = [];
    page.on('request', (request) => asked.push(new URL(request.url())));
    const headings = {
      '/': 'Overview',
      '/volumes': 'Volumes',
      '/nodes': 'Nodes and disks',
      '/topology': 'Topology',
      '/capacity': 'Capacity',
      '/rebuilds': 'Rebuilds',
      '/what-if': 'What if',
    };
    for (const [path, heading] of Object.entries(headings)) {
      await page.goto(`${visit.stack.local.consoleUrl}${path}`);
      await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor();
      await page.waitForLoadState('load');
      await visit.picture(`many-nodes${path.replace('/', '-')}`);
    }
    const lists = asked.filter(({ pathname }) => /\/(nodes|disks|zones|replica-counts)$/.test(pathname));
    const unbounded = lists.filter(({ pathname, searchParams }) =>
      pathname.endsWith('/replica-counts')
        ? !searchParams.has('nodeIds')
        : !pathname.endsWith('/zones') &&
          !searchParams.has('filter') &&
          Number(searchParams.get('limit')) >= SPARES,
    );
    expect(lists.length).toBeGreaterThan(4);
    expect(unbounded.map(String)).toEqual([]);
  });

  test('no page threw an error in all this', () => {
    expect(visit.errors).toEqual([]);
  });
});

/** @param from a table, with a condition */
async function countOf(from: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${from} AND cluster_id = $1`,
    [visit.stack.local.clusterId],
  );
  return rows[0]?.count ?? 0;
}

async function screens(): Promise<number> {
  const box = await page.locator('html').boundingBox();
  return (box?.height ?? 0) / (page.viewportSize()?.height ?? 1);
}
