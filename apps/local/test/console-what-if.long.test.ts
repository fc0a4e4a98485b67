/** Changes that the console plans first: a drain, and what would come of losses, new volumes and new nodes. */
import { GIB } from '@holdfast/core/model/bytes.js';
import { findBrowser } from '@holdfast/testkit/browser.js';
import { createVolume } from '@holdfast/testkit/cluster-volumes.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

let visit: ConsoleVisit<TestCluster>;
let cluster: TestCluster;
let page: ConsoleVisit['page'];

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  visit = await ConsoleVisit.beginShared(async (made) => {
    await createVolume(made, 'web-data', { sizeBytes: GIB, attachTo: 'node-1' });
  });
  ({ stack: cluster, page } = visit);
  await visit.signIn();
});

afterAll(() => visit?.end());

inBrowser('the console', () => {
  test('drains a node with its plan shown first, says what the drain waits for, and ends it', async () => {
    await page.getByRole('link', { name: 'Nodes and disks' }).first().click();
    await page.getByRole('button', { name: 'Drain…' }).nth(2).click();
    const dialog = page.getByRole('dialog', { name: 'Drain node-3' });
    await dialog.getByRole('region', { name: 'Plan' }).waitFor();
    await dialog.getByLabel('It may be switched off').selectOption('block-for-eviction');
    await dialog.getByText('It will wait until you have done something about these:').waitFor();
    expect(await visit.dialogProblems('drain-plan')).toEqual([]);
    await dialog.getByRole('button', { name: 'Drain', exact: true }).click();
    const note = page.getByRole('region', { name: 'Drain of node-3' });
    await note
      .getByText(/web-data/)
      .first()
      .waitFor();
    expect(await visit.problems('draining')).toEqual([]);
    await page.getByRole('button', { name: 'Cancel drain' }).click();
    await note.waitFor({ state: 'detached' });
  });

  test('simulates the loss of a zone, and new volumes', async () => {
    await page.getByRole('link', { name: 'What if' }).first().click();
    await page.getByText('Nothing asked yet').waitFor();
    await page.getByLabel('New volumes').fill('2');
    await page.getByLabel('zone-b', { exact: true }).check();
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.getByText('0 of 2 new volumes fit; 1 existing volume loses 1 replica').waitFor();
    await page.getByRole('row', { name: /web-data Fits nowhere No disk can take this replica/ }).waitFor();
    // What gives one copy a place does not answer the whole question, and says so.
    await page
      .getByRole('heading', { name: 'What would make copy 3 of volume 1 fit, smallest first' })
      .waitFor();
    await page.getByText('The volumes after it may need more.').waitFor();
    await page.getByRole('row', { name: /zone-b .* gone/ }).waitFor();
    expect(await visit.problems('what-if')).toEqual([]);
    await page.getByLabel('zone-b', { exact: true }).uncheck();
    await page.getByLabel('GiB each').fill('1');
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.getByText('All 2 new volumes fit.').waitFor();
    const nodes = page.getByRole('group', { name: 'Add a disk to nodes' });
    for (const name of ['node-1', 'node-2', 'node-3']) await nodes.getByLabel(name).check();
    await page.getByLabel('GiB of each new disk').fill('2000');
    await page.getByLabel('GiB each').fill('900');
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.getByRole('listitem').filter({ hasText: 'node-1, new-disk-1' }).first().waitFor();
    await page.getByText('All 2 new volumes fit.').waitFor();
  });

  test('asks again from its address what a drain and a loss come to, and names what is wrong there', async () => {
    const answer = page.getByRole('heading', { name: 'How long it takes' });
    await page.goto(`${cluster.local.consoleUrl}/what-if?drain=node-1&policy=block-for-eviction&limit=2`);
    await answer.waitFor();
    expect(await page.getByRole('group', { name: 'Drain nodes' }).getByLabel('node-1').isChecked()).toBe(
      true,
    );
    await page.getByRole('table', { name: 'Forecast of volumes' }).getByText('web-data').waitFor();
    expect(await visit.problems('what-if-drain')).toEqual([]);
    await page.getByRole('group', { name: 'Drain nodes' }).getByLabel('node-1').uncheck();
    await page.getByRole('group', { name: 'Lose nodes' }).getByLabel('node-1').check();
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.waitForURL(/node=node-1/);
    await page.getByText(/loses 1 replica/).waitFor();
    await page.getByText('Tags, new nodes, kinds of disks, settings').click();
    await page.getByLabel('New nodes', { exact: true }).fill('2');
    await page.getByLabel('Zone of new nodes').fill('zone-d');
    await page
      .getByLabel('Settings with other values')
      .fill('replica-soft-anti-affinity=true no-such-setting=1');
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.waitForURL(/newNodes=2.*newNodeZone=zone-d/);
    await page
      .getByText(/no-such-setting/)
      .first()
      .waitFor();
    await page.getByLabel('Settings with other values').fill('replica-soft-anti-affinity=true');
    await page.getByRole('button', { name: 'Try it' }).click();
    await page
      .getByRole('row', { name: /zone-d/ })
      .first()
      .waitFor();
    await page.goto(`${cluster.local.consoleUrl}/what-if?drain=node-9`);
    await page.getByText('names no node that is left: node-9').first().waitFor();
  });

  test('no page threw an error in all this', () => {
    expect(visit.errors).toEqual([]);
  });
});
