/** Where copies go, in a real browser and on one stack: how much fits and until when, what a loss, drains and new nodes do, and where a new volume would go. */
import { findBrowser } from '@holdfast/testkit/browser.js';
import { writeCapacityHistory } from '@holdfast/testkit/capacity-history.js';
import { createVolume } from '@holdfast/testkit/cluster-volumes.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const DESK = { width: 1360, height: 900 };
const PHONE = { width: 390, height: 844 };
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

let visit: ConsoleVisit<TestCluster>;
let page: ConsoleVisit['page'];

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  visit = await ConsoleVisit.beginShared();
  ({ page } = visit);
  await visit.signIn();
});

afterAll(() => visit?.end());

const room = () => page.getByRole('region', { name: 'How much more fits?', exact: true });

const lose = (what: string) => page.getByRole('button', { name: `Lose ${what}`, exact: true });
const answer = (what: string) => page.getByRole('region', { name: `If ${what} is lost`, exact: true });
const dialog = () => page.getByRole('dialog');
const liveFit = () => dialog().getByRole('status');

inBrowser('the page of capacity', () => {
  test('says how many more volumes fit, and how many once a zone is lost', async () => {
    await page.getByRole('link', { name: 'Capacity' }).first().click();
    // Three copies need three nodes: without a zone there are two.
    await room()
      .getByText(/^[1-9][\d,]* more of 10 GiB × 3 fit; none after losing any zone\.$/)
      .waitFor();
    await room()
      .getByText(/^What stops the next: No disk can take/)
      .waitFor();
    await room().getByLabel('GiB each').fill('4');
    await room().getByLabel('Copies').fill('2');
    await room().getByRole('button', { name: 'Ask' }).click();
    await room()
      .getByText(/^[1-9][\d,]* more of 4 GiB × 2 fit; [1-9][\d,]* after losing [\w -]+\.$/)
      .waitFor();
    await visit.queryBecomes('?sizeGib=4&replicas=2');
  });

  test('says when it will be full from a history that keys walk through, and why that is not known on the first day', async () => {
    const history = page.getByRole('region', { name: 'When will it be full?' });
    await history
      .getByText(/^When it will be full is not known yet: a forecast needs a day of history/)
      .waitFor();
    const { stack, local } = visit.stack;
    await writeCapacityHistory({ ownerUrl: stack.ownerUrl, clusterId: local.clusterId, days: 40 });
    await page.reload();
    await history.getByText(/^Full in about \d+ days( \(\d+ to \d+\))?: what may be promised/).waitFor();
    await history.getByRole('button', { name: '30 days' }).click();
    const times = history.getByRole('slider', { name: 'Time in: Space on the disks' });
    await times.and(page.locator(':not([max="0"])')).waitFor();
    const before = await times.getAttribute('aria-valuetext');
    await times.press('ArrowLeft');
    expect(before).toMatch(/Promised \d/);
    expect(await times.getAttribute('aria-valuetext')).not.toBe(before);
    const promised = history.getByRole('button', { name: /^Promised/ });
    await promised.press('Enter');
    expect(await promised.getAttribute('aria-pressed')).toBe('false');
    await history.getByText('The same as a table').click();
    expect(
      await history.getByRole('table', { name: 'History of capacity' }).getByRole('row').count(),
    ).toBeGreaterThan(20);
    await history.locator('canvas').nth(1).waitFor();
    expect(await visit.problems('capacity-history')).toEqual([]);
  });

  test('fits a phone, and leads to the nodes', async () => {
    await page.setViewportSize(PHONE);
    const samples = await page.getByRole('region', { name: 'Samples' }).boundingBox();
    expect(samples?.height).toBeLessThan(PHONE.height / 2);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
    await page
      .getByRole('region', { name: 'The fullest nodes' })
      .getByRole('link', { name: 'node-2' })
      .click();
    await page.getByRole('heading', { name: 'node-2', level: 1 }).waitFor();
    expect(visit.errors).toEqual([]);
  });
});

inBrowser('the topology', () => {
  beforeAll(async () => {
    await page.setViewportSize(DESK);
    await createVolume(visit.stack, 'one-copy', { copies: 1 });
    await createVolume(visit.stack, 'three-copies');
  });

  test('draws zones, nodes, disks and copies, and says what the loss of each would do', async () => {
    await page.getByRole('link', { name: 'Topology' }).first().click();
    await page.getByText('Choose a domain').waitFor();
    await page.getByRole('link', { name: /^one-copy: Healthy/ }).waitFor();
    const holder = page
      .getByRole('region', { name: /^Node / })
      .filter({ has: page.getByRole('link', { name: /^one-copy/ }) });
    const name = String(await holder.getAttribute('aria-label')).replace('Node ', '');
    await lose(`node ${name}`).click();
    const lost = answer(`node ${name}`).getByRole('listitem').filter({ hasText: 'one-copy' });
    await lost.getByText('Lost', { exact: true }).waitFor();
    expect(await visit.problems('topology-loss')).toEqual([]);
    await lose(`disk disk-1 of ${name}`).click();
    await answer(`disk ${name}/disk-1`).getByText('degraded meanwhile').waitFor();
    await answer(`disk ${name}/disk-1`).getByRole('link', { name: 'Ask more about it' }).click();
    await page.getByRole('checkbox', { name: `${name}/disk-1`, checked: true }).waitFor();
  });

  test('keeps the choice in the address, and reaches every page from a phone', async () => {
    await page.setViewportSize(PHONE);
    await page.goto(new URL('/topology?lose=zone:zone-b', visit.stack.local.consoleUrl).href);
    await answer('zone zone-b').getByText('lost', { exact: true }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
    await lose('zone zone-b').click();
    await page.getByText('Choose a domain').waitFor();
    await page.getByRole('button', { name: 'Menu', exact: true }).click();
    await page.getByText('cluster local').locator('visible=true').waitFor();
    // The open menu alone: what it covers of the page may be cut anywhere.
    expect(await visit.problems('menu-phone', 'nav[aria-label="Pages"]')).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Audit' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('heading', { name: 'Audit', exact: true }).waitFor();
    expect(visit.errors).toEqual([]);
  });
});

inBrowser('placement in the console', () => {
  beforeAll(() => page.setViewportSize(DESK));

  test('tells where a volume would go, and why not, while its form is filled', async () => {
    await page.getByRole('link', { name: 'Volumes' }).first().click();
    await page.getByRole('button', { name: 'Create volume' }).first().click();
    await liveFit()
      .getByText(/^Fits: node-\d\/disk-\d, node-\d\/disk-\d, node-\d\/disk-\d$/)
      .waitFor();
    await dialog().getByText('All options').click();
    await dialog().getByLabel('Only on nodes with tags').fill('no-such-tag');
    await liveFit()
      .getByText(/^Does not fit: No disk can take/)
      .waitFor();
    expect(await visit.dialogProblems('create-volume')).toEqual([]);
    await dialog().getByLabel('Only on nodes with tags').fill('');
    await dialog().getByLabel('Labels').fill('team=payments');
    await dialog().getByLabel('Copies', { exact: true }).fill('4');
    await liveFit()
      .getByText(/Set "Copies may share a node"/)
      .waitFor();
    await dialog().getByLabel('Name').fill('web-data');
    await dialog().getByRole('button', { name: 'Create volume' }).click();
    await page.getByRole('heading', { name: 'web-data' }).waitFor();
    await page.getByRole('list', { name: 'Labels of web-data' }).getByText('team=payments').waitFor();
  });

  test('carries a cure out once its plan has been seen', async () => {
    await page.getByRole('region', { name: 'Not fully placed' }).waitFor();
    const why = page.getByRole('region', { name: 'Why there', exact: true });
    await why.getByText('Fits nowhere').waitFor();
    await why.getByRole('link', { name: 'Open nodes' }).waitFor();
    await why.getByRole('button', { name: /^Show the plan: Set "Copies may share a node"/ }).click();
    await dialog().getByText('replica soft anti affinity: ignored → enabled').waitFor();
    expect(await visit.dialogProblems('cure-plan')).toEqual([]);
    await dialog().getByRole('button', { name: 'Do it' }).click();
    await why.getByText('Fits nowhere').waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Settings of this volume' }).getByText('Set here').waitFor();
    expect(visit.errors).toEqual([]);
  });
});

inBrowser('the what-if', () => {
  beforeAll(() => page.setViewportSize(DESK));
  const group = (name: string) => page.getByRole('group', { name, exact: true });
  const ask = () => page.getByRole('button', { name: 'Try it' }).click();
  const asked = (name: string) => new URL(page.url()).searchParams.get(name);

  test('takes a policy for each drained node and several groups of new nodes, and keeps them in the address', async () => {
    await page.goto(
      new URL('/what-if?drain=node-1&policy=block-for-eviction', visit.stack.local.consoleUrl).href,
    );
    await group('Drain nodes').getByLabel('node-2').check();
    await page.getByText('Another policy for some of the drained nodes').click();
    await page.getByLabel('When node-2 may be switched off').selectOption('always-allow');
    await page.getByText('Tags, new nodes, kinds of disks, settings').click();
    await group('Group 1 of new nodes').getByLabel('New nodes', { exact: true }).fill('1');
    await group('Group 1 of new nodes').getByLabel('Zone').fill('zone-d');
    await page.getByRole('button', { name: 'Add a group of new nodes' }).click();
    await group('Group 2 of new nodes').getByLabel('Zone').fill('zone-e');
    await group('Group 2 of new nodes').getByLabel('Disks of each').fill('2');
    await page.getByRole('button', { name: 'Add disks of another kind' }).click();
    await group('Disks of kind 2').getByLabel('For nodes').fill('node-3');
    await group('Disks of kind 2').getByLabel('Kind of disks').selectOption('block');
    await ask();
    // The disks that were asked for: one of 100 GiB in the one zone, two in the other.
    await page.getByRole('row', { name: /^zone-d not there .* of 100 GiB/ }).waitFor();
    await page.getByRole('row', { name: /^zone-e not there .* of 200 GiB/ }).waitFor();
    await page.reload();
    await group('Group 2 of new nodes').getByLabel('Zone').and(page.locator('[value="zone-e"]')).waitFor();
    expect(await page.getByLabel('When node-2 may be switched off').inputValue()).toBe('always-allow');
    expect(await group('Disks of kind 2').getByLabel('For nodes').inputValue()).toBe('node-3');
    expect(await page.getByLabel('When node-1 may be switched off').inputValue()).toBe('');
    expect(await visit.problems('what-if-groups')).toEqual([]);
  });

  test('fits a phone, and takes a group away again', async () => {
    await page.setViewportSize(PHONE);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
    await page.getByRole('button', { name: 'Remove group 2' }).click();
    await page.locator('button:focus', { hasText: 'Add a group of new nodes' }).waitFor();
    await ask();
    await page.waitForURL((url) => !url.searchParams.has('newNodes.2'));
    expect([asked('newNodes'), asked('policy.node-2')]).toEqual(['1', 'always-allow']);
    await page.getByRole('row', { name: /zone-e/ }).waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /zone-d/ }).waitFor();
    expect(visit.errors).toEqual([]);
  });
});
