/**
 * The console when things are bad: a serving node that is dead, and a browser that is cut off. What it shows has to be so, in a real
 * browser on a real stack.
 */
import { MIB } from '@holdfast/core/model/bytes.js';
import { findBrowser } from '@holdfast/testkit/browser.js';
import { createVolume } from '@holdfast/testkit/cluster-volumes.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

/** How programs spell it, and what a socket says of itself: never shown to people. */
const RAW = /ECONN|ETIMEDOUT|EPIPE|socket hang up|fetch failed|\{ ?(force|dryRun)|\[object|undefined|NaN/;
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

let visit: ConsoleVisit<TestCluster>;
let stack: TestCluster;
let page: ConsoleVisit['page'];

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  visit = await ConsoleVisit.beginShared(async (cluster) => {
    await createVolume(cluster, 'served-here', { attachTo: 'node-1' });
    await createVolume(cluster, 'served-there', { attachTo: 'node-2' });
  });
  ({ stack, page } = visit);
  await visit.signIn();
});

afterAll(() => visit?.end());

const region = (name: string) => page.getByRole('region', { name, exact: true });

inBrowser('the console', () => {
  test('says of a healthy cluster that nothing is at risk, now', async () => {
    await region('Is any data at risk?').getByText('All 2 volumes have every copy it should.').waitFor();
    await region('When will it be safe?').getByText('Now', { exact: true }).waitFor();
    await visit.picture('truth-healthy');
  });

  test('says of a copy without a place that it waits for one, and never that all is safe now', async () => {
    await stack.call('POST', '/volumes', { name: 'wide', size: 16 * MIB, numberOfReplicas: 4 });
    await region('Is any data at risk?').getByText('Copies without a place: 1 degraded').waitFor();
    const safe = region('When will it be safe?');
    await safe.getByText('1 volume waits for a place or for a node to come back.').waitFor();
    expect(await safe.getByText('Now', { exact: true }).count()).toBe(0);
  });

  test('shows the dead serving node as one cause, and never its volume as healthy or safe', async () => {
    stack.killAgent('node-1');
    const atRisk = region('Is any data at risk?');
    await atRisk.getByText(/^node-1 does not answer: 1 not served, \d degraded$/).waitFor();
    // First of the causes, with the way out beside it.
    const first = atRisk.getByRole('list', { name: 'Causes' }).getByRole('listitem').first();
    await first.getByText('node-1 does not answer').waitFor();
    await first.getByText(/^Start the agent on node-1, or detach its volumes by force/).waitFor();
    await first.getByRole('link', { name: 'served-here' }).waitFor();
    const safe = region('When will it be safe?');
    await safe.getByText('Not without you').waitFor();
    expect(await safe.getByText('Now', { exact: true }).count()).toBe(0);
    await region('Recent events').getByText('node node-1 does not answer').waitFor();
    expect(await visit.problems('truth-node-dead')).toEqual([]);

    await page.getByRole('link', { name: 'Volumes' }).first().click();
    const row = page.getByRole('row', { name: /served-here/ });
    await row.getByText('Not served').waitFor();
    await row.getByText('?/3').waitFor();
    expect(await page.getByRole('row').nth(1).textContent()).toContain('served-here');

    await visit.openVolume('served-here');
    await region('Where its copies are').getByText('No answer', { exact: true }).waitFor();
    expect(await region('Where its copies are').getByText('Healthy', { exact: true }).count()).toBe(0);
    await region('Connect').getByText('its address does not work now').waitFor();
    expect(await page.getByText(/^nbd:/).count()).toBe(0);
    await page.getByText('detach it by force').first().waitFor();
  });

  test('offers no dead node for an attach, and takes a living one by itself', async () => {
    await visit.openVolume('wide');
    await page.getByRole('button', { name: 'Attach' }).click();
    const dialog = page.getByRole('dialog');
    const dead = dialog.getByRole('option', { name: /^node-1/ });
    await dialog.getByRole('option', { name: /^node-2/ }).waitFor({ state: 'attached' });
    expect(await dead.getAttribute('disabled')).not.toBeNull();
    expect(await dead.textContent()).toContain('not ready');
    expect(await dialog.getByLabel('Node').inputValue()).toBe('');
    await dialog.getByRole('button', { name: 'Attach' }).click();
    await page.getByText(/^nbd:/).first().waitFor();
    const { attachedNodeId } = await stack.cliJson<{ attachedNodeId: string }>('volume', 'get', 'wide');
    expect([stack.agent('node-2').nodeId, stack.agent('node-3').nodeId]).toContain(attachedNodeId);
  });

  test('draws no copy on the dead node as healthy on any page, and words nothing as programs spell it', async () => {
    const nodeId = stack.agent('node-1').nodeId;
    for (const [path, heading] of [
      ['/', 'Overview'],
      ['/nodes', 'Nodes and disks'],
      [`/nodes/${nodeId}`, 'node-1'],
      ['/topology?lose=node:node-2', 'Topology'],
      ['/rebuilds', 'Rebuilds'],
      ['/alerts', 'Alerts'],
      ['/events', 'Events'],
      ['/capacity', 'Capacity'],
    ] as const) {
      await page.goto(new URL(path, stack.local.consoleUrl).href);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
      expect(RAW.exec(String(await page.locator('main').textContent()))).toBeNull();
      if (path === '/') {
        const map = region('Where everything is');
        await map.getByRole('link', { name: 'served-there: No answer' }).waitFor();
        await map.getByRole('link', { name: 'served-here: No answer' }).waitFor();
        expect(await map.getByRole('link', { name: 'served-here: Healthy' }).count()).toBe(0);
      }
      if (path.startsWith('/topology')) {
        const node = page.getByRole('region', { name: 'Node node-1' });
        await node.getByRole('link', { name: 'served-here: No answer' }).waitFor();
        expect(await node.getByRole('link', { name: /: Healthy$/ }).count()).toBe(0);
      }
      if (heading === 'node-1')
        expect(await region('Copies on it').getByText('Healthy', { exact: true }).count()).toBe(0);
    }
  });

  test('tells once that the browser is cut off and how old the page is, and recovers without a user', async () => {
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await region('Is any data at risk?').getByText('node-1 does not answer').waitFor();
    await region('Recent events').getByRole('listitem').first().waitFor();
    await page.context().setOffline(true);
    await page.getByText('No answer', { exact: true }).first().waitFor();
    expect(await page.getByText('Live', { exact: true }).count()).toBe(0);
    // One banner with the age of what is shown, and none on a panel.
    await page
      .getByRole('alert')
      .getByText(/^The API does not answer\. Not current: this is from/)
      .waitFor();
    expect(await page.getByText(/Not current/).count()).toBe(1);
    await page.context().setOffline(false);
    await page.getByText('Live', { exact: true }).waitFor();
    await page
      .getByText(/Not current/)
      .first()
      .waitFor({ state: 'detached' });
  });

  test('no page threw an error in all this', () => {
    expect(visit.errors).toEqual([]);
  });
});
