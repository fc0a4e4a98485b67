/** The console while all processes of a node stand still, in a real browser on a real stack: what it served is not shown as well. */
import { findBrowser } from '@holdfast/testkit/browser.js';
import { changeSetting, createVolume } from '@holdfast/testkit/cluster-volumes.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

let visit: ConsoleVisit<TestCluster>;
let stack: TestCluster;
let page: ConsoleVisit['page'];

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  visit = await ConsoleVisit.beginShared(async (cluster) => {
    // Long beside this story: the node is ready in all of it.
    await changeSetting(cluster, 'agent-heartbeat-timeout', 300);
    await createVolume(cluster, 'served-here', { attachTo: 'node-2' });
    await createVolume(cluster, 'held-here');
  });
  ({ stack, page } = visit);
  await visit.signIn();
});

afterAll(async () => {
  if (stack !== undefined) signal('SIGCONT');
  await visit?.end();
});

const region = (name: string) => page.getByRole('region', { name, exact: true });
const signal = (name: NodeJS.Signals) => void process.kill(-stack.agent('node-2').pid, name);

inBrowser('a node that gives no answer', () => {
  test('is the first cause on the overview, and its volume not served', async () => {
    signal('SIGSTOP');
    await region('Is any data at risk?')
      .getByText('node-2 does not answer: 1 not served, 1 degraded')
      .waitFor();
    await page.getByText('No answer', { exact: true }).first().waitFor();
    expect(await visit.problems('silent-overview')).toEqual([]);
  });

  test('has its volume shown without an address that leads nowhere, and no copy on it as healthy', async () => {
    await visit.openVolume('served-here');
    await region('Connect').getByText('its address does not work now').waitFor();
    expect(await page.getByText(/^nbd:/).count()).toBe(0);
    const places = region('Where its copies are');
    await places.getByText('Should serve the volume, and does not answer').waitFor();
    expect(await places.getByText('Healthy', { exact: true }).count()).toBe(0);
    await visit.picture('silent-volume');
  });

  test('has a volume that no engine serves shown without the copy on it', async () => {
    await page.getByRole('link', { name: 'Volumes' }).first().click();
    const row = page.getByRole('row', { name: /held-here/ });
    await row.getByText('Degraded').waitFor();
    await row.getByText('2/3').waitFor();
  });

  test('says so on its own page and among the nodes, and why', async () => {
    const why = 'he agent on node-2 has missed a heartbeat, and does not answer';
    await page.getByRole('link', { name: 'Nodes and disks' }).first().click();
    await region('node-2').getByText(`t${why}`).waitFor();
    await region('node-2').getByText('No answer', { exact: true }).waitFor();
    await visit.picture('silent-nodes');
    await page.getByRole('link', { name: 'Open node-2' }).click();
    await region('Conditions').getByText(`T${why}`).waitFor();
  });

  test('is well again on every page as soon as it is heard', async () => {
    signal('SIGCONT');
    await page.getByText('has missed a heartbeat').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await page.getByText('node-2 does not answer').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Volumes' }).first().click();
    await visit.openVolume('served-here');
    await page.getByText(/^nbd:/).first().waitFor();
    expect(visit.errors).toEqual([]);
  });
});
