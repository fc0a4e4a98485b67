/**
 * The console when copies are gone and when an orphan is left: what it shows and asks, in a real browser on a real
 * stack.
 */
import { findBrowser } from '@holdfast/testkit/browser.js';
import { createVolume } from '@holdfast/testkit/cluster-volumes.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { aGate, tryAgain } from '@holdfast/testkit/held-requests.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

/** What the console asks before a salvage: the copies, and what is at stake. */
const ADVICE = /\/salvage$/;
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

let visit: ConsoleVisit<TestCluster>;
let stack: TestCluster;
let page: ConsoleVisit['page'];

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  visit = await ConsoleVisit.beginShared(async (cluster) => {
    await createVolume(cluster, 'web-data', { attachTo: 'node-1' });
  });
  ({ stack, page } = visit);
  await visit.signIn();
});

afterAll(() => visit?.end());

inBrowser('the console', () => {
  test('shows with which copies a volume can go on when the others are gone, and goes on with them', async () => {
    stack.killAgent('node-1');
    stack.killAgent('node-2');
    await visit.openVolume('web-data');
    await page.getByRole('button', { name: 'Force detach' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Force detach' }).click();
    await page.getByText('Detached', { exact: true }).first().waitFor();
    await stack.cli('volume', 'attach', 'web-data', '--node', 'node-3');
    await page.getByText('Faulted', { exact: true }).first().waitFor();
    const dialog = page.getByRole('dialog');
    const held = aGate();
    await page.route(ADVICE, async (route) => {
      await held.opened;
      await route.abort();
    });
    await page.getByRole('button', { name: 'Salvage' }).click();
    await dialog.getByRole('status', { name: 'Loading' }).waitFor();
    held.open();
    await dialog.getByRole('alert').waitFor();
    await tryAgain(page, dialog, ADVICE);
    await dialog.getByRole('row', { name: /node-3 Usable/ }).waitFor();
    expect(await dialog.getByRole('row', { name: /No answer/ }).count()).toBe(2);
    await dialog.getByText(/^At stake: writes that 2 other members acknowledged/).waitFor();
    expect(await visit.dialogProblems('salvage-dialog')).toEqual([]);
    await dialog.getByLabel('Use the copy on node-3').uncheck();
    await dialog.getByText('Choose a copy').waitFor({ state: 'attached' });
    await dialog.getByLabel('Use the copy on node-3').check();
    await dialog.getByRole('button', { name: 'Go on with this copy' }).click();
    await page
      .getByText(/^nbd:\/\/127\.0\.0\.1/)
      .first()
      .waitFor();
    await page
      .getByText(/goes on with 1 copy of 3, as was asked for/)
      .first()
      .waitFor();
  });

  test('shows a copy that was left over, and removes it when asked twice', async () => {
    await stack.cliJson('volume', 'detach', 'web-data');
    await page.getByRole('link', { name: 'Nodes and disks' }).first().click();
    const panel = page.getByRole('region', { name: 'Orphans', exact: true });
    await panel.getByText('No orphans').waitFor();
    await stack.cliJson('volume', 'delete', 'web-data', '--yes').catch(() => undefined);
    await stack.startAgent('node-2');
    await panel.getByRole('row', { name: /node-2 .* One that is gone/ }).waitFor();
    expect(await visit.problems('orphans')).toEqual([]);
    await panel.getByRole('button', { name: 'Remove' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/are removed for good\. Its volume web-data was deleted: /).waitFor();
    expect(await visit.dialogProblems('orphan-dialog')).toEqual([]);
    await dialog.getByRole('button', { name: 'Remove copy' }).click();
    await panel.getByText('No orphans').waitFor();
  });

  test('no page threw an error in all this', () => {
    expect(visit.errors).toEqual([]);
  });
});
