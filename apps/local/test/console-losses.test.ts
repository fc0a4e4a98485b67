/**
 * The console when copies are gone and when an orphan is left: what it shows and asks, in a real browser on a real
 * stack.
 */
import { findBrowser } from '@holdfast/testkit/browser.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const executable = findBrowser();
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = executable === undefined ? describe.skip : describe;

let visit: ConsoleVisit;
let stack: ConsoleVisit['stack'];
let page: ConsoleVisit['page'];

async function expectAccessible(name: string): Promise<void> {
  expect(await visit.problems(name)).toEqual([]);
}

beforeAll(async () => {
  if (executable === undefined) return;
  visit = await ConsoleVisit.begin(executable, async (local) => {
    await local.cliJson('volume', 'create', 'web-data', '--size', '64Mi', '--replicas', '3');
    await local.cliJson('volume', 'attach', 'web-data', '--node', 'node-1');
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
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\/salvage$/, async (route) => {
      await held;
      await route.abort();
    });
    await page.getByRole('button', { name: 'Salvage' }).click();
    await dialog.getByRole('status', { name: 'Loading' }).waitFor();
    release();
    await dialog.getByRole('alert').waitFor();
    await page.unrouteAll();
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByRole('row', { name: /node-3 Usable/ }).waitFor();
    expect(await dialog.getByRole('row', { name: /No answer/ }).count()).toBe(2);
    await dialog.getByText(/^What is at stake: writes that 2 other members acknowledged/).waitFor();
    await expectAccessible('salvage-dialog');
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
    await expectAccessible('volume-salvaged');
  });

  test('shows a copy that was left over, and removes it when asked twice', async () => {
    await stack.cliJson('volume', 'detach', 'web-data');
    await page.getByRole('link', { name: 'Nodes and disks' }).first().click();
    const panel = page.getByRole('region', { name: 'Orphans', exact: true });
    await panel.getByText('No orphans').waitFor();
    await stack.cliJson('volume', 'delete', 'web-data').catch(() => undefined);
    await stack.cli('local', 'start-agent', 'node-2');
    await panel.getByRole('row', { name: /node-2 .* One that is gone/ }).waitFor();
    await expectAccessible('orphans');
    await panel.getByRole('button', { name: 'Remove' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/are removed for good\. Its volume web-data was deleted: /).waitFor();
    await expectAccessible('orphan-dialog');
    await dialog.getByRole('button', { name: 'Remove copy' }).click();
    await panel.getByText('No orphans').waitFor();
  });

  test('no page threw an error in all this', () => {
    expect(visit.errors).toEqual([]);
  });
});
