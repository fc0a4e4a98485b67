/**
 * The list of volumes and the keys of the console, as a user at a keyboard has them: completion, order, columns, views, actions on
 * several volumes at once, the command menu. In a real browser on a real stack.
 */
import { findBrowser } from '@holdfast/testkit/browser.js';
import { createVolume } from '@holdfast/testkit/cluster-volumes.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

let visit: ConsoleVisit<TestCluster>;
let page: ConsoleVisit['page'];

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  visit = await ConsoleVisit.beginShared(async (cluster) => {
    await createVolume(cluster, 'pg-a', { copies: 2, attachTo: 'node-1' });
    for (const name of ['pg-b', 'web-c']) await createVolume(cluster, name, { copies: 2 });
  });
  page = visit.page;
  await visit.signIn();
  await page.getByRole('link', { name: 'Volumes' }).first().click();
  await row('web-c').waitFor();
});

afterAll(() => visit?.end());

const row = (name: string) => page.getByRole('row', { name: new RegExp(name) });

inBrowser('the list of volumes', () => {
  test('completes a filter by the keyboard, and keeps it in the address', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('st');
    await page.getByRole('option', { name: 'state' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.type('att');
    await page.getByRole('option', { name: 'attached' }).waitFor();
    expect(await visit.problems('volumes-completion')).toEqual([]);
    await page.keyboard.press('Tab');
    await visit.queryBecomes('?q=state=attached');
    await row('pg-a').waitFor();
    await row('pg-b').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await row('pg-b').waitFor();
  });

  test('is sorted and shaped as the user wants, and comes back by a saved view', async () => {
    await page.getByRole('button', { name: 'Name' }).click();
    await page.getByRole('button', { name: 'Name' }).click();
    await page.locator('th[aria-sort=descending]').waitFor();
    await page.getByRole('row').nth(1).filter({ hasText: 'web-c' }).waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByLabel('Labels').click();
    await page.keyboard.press('Escape');
    await page.getByRole('columnheader', { name: 'Labels' }).waitFor();
    await page.waitForURL(/labels/);
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByLabel('Name of this view').fill('by name');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.keyboard.press('Escape');
    const kept = visit.query();
    await page.goto(new URL('/volumes', page.url()).href);
    await row('web-c').waitFor();
    await visit.queryBecomes('');
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('button', { name: 'by name', exact: true }).click();
    await page.getByRole('columnheader', { name: 'Labels' }).waitFor();
    await visit.queryBecomes(kept);
    await page.keyboard.press('Escape');
  });

  test('shows a volume that is new in its place, without a user', async () => {
    await createVolume(visit.stack, 'pg-new', { copies: 2 });
    await row('pg-new').waitFor();
  });

  test('tries an action on several volumes first, and tells the result of each', async () => {
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    const tools = page.getByRole('toolbar', { name: 'Actions on the selected volumes' });
    await tools.getByText('2 selected').waitFor();
    await tools.getByRole('button', { name: 'Set a label' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Label', { exact: true }).fill('team=storage');
    await dialog.getByRole('button', { name: 'Try' }).click();
    await dialog.getByText('2 of 2 can be done').waitFor();
    expect(await visit.dialogProblems('volumes-bulk')).toEqual([]);
    await dialog.getByRole('button', { name: /^Set a label/ }).click();
    await dialog.getByText('2 of 2 done').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await expectCount('team=storage', 2);

    await page.getByLabel('Select all that are loaded').check();
    await tools.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByText('3 of 4 can be done').waitFor();
    await dialog
      .getByText(/attached/)
      .first()
      .waitFor();
    const confirm = dialog.getByRole('button', { name: /^Delete/ });
    expect(await confirm.getAttribute('title')).toBe('Type 3 first');
    await dialog.getByLabel('Type 3 to confirm').fill('3');
    expect(await visit.dialogProblems('volumes-bulk-delete')).toEqual([]);
    await confirm.click();
    await dialog.getByText('3 of 3 done').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await row('web-c').waitFor({ state: 'detached' });
    expect(await row('pg-a').count()).toBe(1);
  });

  test('keeps what is selected in the address, one by one or as all that match, until something else is searched for', async () => {
    const tools = page.getByRole('toolbar', { name: 'Actions on the selected volumes' });
    for (const name of ['sel-a', 'sel-b', 'sel-c']) await createVolume(visit.stack, name, { copies: 1 });
    await page.getByLabel('Search volumes').fill('sel-');
    await page.waitForURL(/[?&]q=sel-/);
    await page.getByLabel('Select sel-b').check();
    await tools.getByText('1 selected').waitFor();
    await page.waitForURL(/selected=[0-9a-f-]{36}$/);
    await page.reload();
    await tools.getByText('1 selected').waitFor();
    expect(await page.getByLabel('Select sel-b').isChecked()).toBe(true);

    await tools.getByRole('button', { name: 'Select all that match' }).click();
    await tools.getByText('All that match: 3 selected').waitFor();
    await page.getByLabel('Select sel-a').uncheck();
    await page.waitForURL(/selected=all&but=[0-9a-f-]{36}$/);
    await page.reload();
    await tools.getByText('All that match: 2 selected').waitFor();
    expect(await visit.problems('volumes-selection')).toEqual([]);
    await tools.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 of 2 can be done').waitFor();
    expect(await dialog.getByText('sel-a').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await page.getByLabel('Search volumes').fill('pg-');
    await tools.waitFor({ state: 'detached' });
    await page.waitForURL(/[?&]q=pg-/);
    await page.getByLabel('Search volumes').fill('');
    await page.waitForURL((url) => !url.searchParams.has('q'));
  });

  test('goes anywhere and acts from the command menu, and gives the focus back', async () => {
    await page.getByRole('link', { name: 'pg-a', exact: true }).focus();
    await page.keyboard.press('Control+k');
    const menu = page.getByRole('dialog');
    await menu.getByRole('option', { name: 'Create volume' }).waitFor();
    expect(await visit.dialogProblems('command-menu')).toEqual([]);
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    await page.locator('a:focus').filter({ hasText: 'pg-a' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('pg-a');
    await menu.getByRole('option', { name: 'pg-a', exact: true }).click();
    await page.getByRole('heading', { name: 'pg-a' }).waitFor();
    await page.keyboard.press('Control+k');
    await menu.getByRole('option', { name: 'Resize', exact: true }).click();
    await page.getByRole('dialog', { name: /Resize|pg-a/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await menu.getByText('Next and previous row').waitFor();
    expect(await visit.dialogProblems('shortcuts')).toEqual([]);
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await page.getByRole('heading', { name: 'Events', exact: true }).waitFor();
  });

  test('keeps the names when there are many columns, and the page no wider than the screen', async () => {
    await page.getByRole('link', { name: 'Volumes' }).first().click();
    await page.goto(
      `${visit.stack.local.consoleUrl}/volumes?columns=health,copies,state,attached,size,written,labels,created`,
    );
    await row('pg-a').waitFor();
    await page.setViewportSize({ width: 1000, height: 800 });
    const name = await page.getByRole('cell', { name: 'pg-a', exact: true }).boundingBox();
    expect(name?.width).toBeGreaterThan(150);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(1000);
    await page.setViewportSize({ width: 1360, height: 900 });
  });

  test('is made of cards on a phone, which say what has no column there', async () => {
    await page.getByRole('link', { name: 'Volumes' }).first().click();
    const second = row('pg-a').getByText(/MiB · Attached to node-1/);
    await second.waitFor({ state: 'hidden' });
    await page.setViewportSize({ width: 390, height: 844 });
    await second.waitFor({ state: 'visible' });
    await page.setViewportSize({ width: 1360, height: 900 });
  });

  test('no page threw an error in all this', () => {
    expect(visit.errors).toEqual([]);
  });
});

async function expectCount(text: string, count: number): Promise<void> {
  await page
    .getByText(text, { exact: true })
    .nth(count - 1)
    .waitFor();
  expect(await page.getByText(text, { exact: true }).count()).toBe(count);
}
