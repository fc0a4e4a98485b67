/** A node's and a disk's page in a real browser: what they tell, their labels, and plans that come before a change. */
import { randomUUID } from 'node:crypto';
import { findBrowser } from '@holdfast/testkit/browser.js';
import { createVolume } from '@holdfast/testkit/cluster-volumes.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const PHONE = { width: 390, height: 844 };
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

let visit: ConsoleVisit<TestCluster>;
let page: ConsoleVisit['page'];

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  visit = await ConsoleVisit.beginShared(async (cluster) => {
    await createVolume(cluster, 'web-data');
  });
  ({ page } = visit);
  await visit.signIn();
});

afterAll(() => visit?.end());

const region = (name: string) => page.getByRole('region', { name, exact: true });
const dialog = () => page.getByRole('dialog');
/** Notes that tell what became of an action. */
const note = (role: 'status' | 'alert') => page.getByLabel(/^Notifications/).getByRole(role);
const button = (name: string) => page.getByRole('button', { name, exact: true });

async function openNode(): Promise<void> {
  await page.getByRole('link', { name: 'Nodes and disks' }).first().click();
  await page.getByRole('link', { name: 'Open node-1' }).click();
  await page.getByRole('heading', { name: 'node-1', level: 1 }).waitFor();
}

inBrowser('the page of a node', () => {
  test('tells its conditions, disks and copies', async () => {
    await openNode();
    await region('Conditions').getByText('Is it ready?').waitFor();
    await region('Copies on it')
      .getByRole('row', { name: /web-data/ })
      .waitFor();
  });

  test('sets a label and takes it off', async () => {
    await page.getByLabel('New label').fill('no label!');
    await page.locator('[aria-invalid="true"]').waitFor();
    await page.getByLabel('New label').fill('team=payments');
    await button('Set label').click();
    await page.getByRole('list', { name: 'Labels of node-1' }).getByText('team=payments').waitFor();
    await note('status').filter({ hasText: 'Label team of node-1 is set.' }).waitFor();
    await button('Take label team off').click();
    await region('Labels').getByText('None yet.').waitFor();
  });

  test('notes what has been done, and what was not answered until the note is closed by its key', async () => {
    await page.route('**/cordon', (route) => route.abort());
    await button('Cordon').click();
    const silence = note('alert').filter({ hasText: 'There was no answer. It may have been done.' });
    await silence.waitFor();
    expect(await visit.problems('note')).toEqual([]);
    await page.unroute('**/cordon');
    await button('Cordon').click();
    await note('status').filter({ hasText: 'node-1 takes no new copies.' }).waitFor();
    // The newest goes first.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await silence.waitFor({ state: 'detached' });
    await button('Uncordon…').click();
    await dialog().getByRole('button', { name: 'Uncordon', exact: true }).click();
    await note('status').filter({ hasText: 'node-1 takes new copies again.' }).waitFor();
  });

  test('shows the plan of a change before it is made', async () => {
    await button('Change…').first().click();
    await dialog().getByLabel('Region').fill('north');
    await dialog().getByRole('button', { name: 'Show the plan' }).click();
    const plan = dialog().getByRole('region', { name: 'Plan' });
    await plan.getByText('region: none → north').waitFor();
    expect(await visit.dialogProblems('node-plan')).toEqual([]);
    await dialog().getByRole('button', { name: 'Change node' }).click();
    await page.getByText('north / zone-a').waitFor();
  });

  test('tells what an eviction would move, and why a node that answers is not deleted', async () => {
    await button('Evict copies…').click();
    await dialog().getByText('web-data: moved', { exact: false }).waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await button('Delete…').click();
    await dialog().getByRole('alert').waitFor();
    const confirm = dialog().getByRole('button', { name: 'Delete node' });
    expect(await confirm.getAttribute('aria-disabled')).toBe('true');
    await dialog().getByRole('button', { name: 'Cancel' }).click();
  });

  test('tells what is missing during a maintenance before the window opens', async () => {
    await button('Maintenance…').click();
    await dialog().getByLabel('For').selectOption({ label: 'Four hours' });
    const plan = dialog().getByRole('region', { name: 'Plan' });
    await plan.getByText('While it is away one volume has a copy less', { exact: false }).waitFor();
    expect(await visit.dialogProblems('node-maintenance')).toEqual([]);
    await dialog().getByRole('button', { name: 'Start maintenance' }).click();
    await button('End maintenance…').click();
    await dialog().getByRole('button', { name: 'End maintenance', exact: true }).click();
    await button('Maintenance…').waitFor();
  });

  test('says so when there is no such node', async () => {
    await page.goto(new URL(`/nodes/${randomUUID()}`, visit.stack.local.consoleUrl).href);
    await page.getByText('Could not load the node').waitFor();
  });
});

/** From the form of the disk, which is also what the list of nodes opens. */
async function expectRemovalPlan(name: string): Promise<void> {
  await button(`Change disk ${name}`).click();
  await dialog().getByRole('button', { name: 'Remove…' }).click();
  await dialog().getByText('less room for copies', { exact: false }).waitFor();
  expect(await visit.dialogProblems('disk-removal')).toEqual([]);
  await dialog().getByRole('button', { name: 'Cancel' }).click();
}

/** Types into the command menu and chooses a line of it. */
async function choose(typed: string, line: string | RegExp): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder('Go to a page or a thing', { exact: false }).fill(typed);
  await dialog()
    .getByRole('option', { name: line, exact: typeof line === 'string' })
    .first()
    .click();
}

inBrowser('the command menu', () => {
  test('goes to any page, and to any thing by its name', async () => {
    await page.goto(visit.stack.local.consoleUrl);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await choose('access keys', 'Tokens');
    await page
      .getByRole('heading', { name: 'Tokens', exact: true })
      .or(button('New token…'))
      .first()
      .waitFor();
    await choose('node-3', 'node-3');
    await page.getByRole('heading', { name: 'node-3', level: 1 }).waitFor();
    await choose('disk-2', 'node-2 / disk-2');
    await page.getByRole('heading', { name: 'disk-2', level: 1 }).waitFor();
    await choose('web-d', 'web-data');
    await page.getByRole('heading', { name: 'web-data', level: 1 }).waitFor();
  });

  test('takes an action of a named thing to its page, with its plan there', async () => {
    await choose('node-2 drain', 'Drain node-2');
    await page.getByRole('dialog', { name: 'Drain node-2' }).getByRole('region', { name: 'Plan' }).waitFor();
    await page.keyboard.press('Escape');
    await choose('new token', 'New token…');
    await dialog().getByRole('button', { name: 'Create token' }).waitFor();
    await page.keyboard.press('Escape');
    await choose('replenishment', 'Change replica-replenishment-wait-interval');
    await dialog().getByText('replica-replenishment-wait-interval', { exact: false }).first().waitFor();
    await page.keyboard.press('Escape');
    await choose('node-2 lost', 'What if node-2 is lost');
    await page.waitForURL(/\/what-if\?node=node-2$/);
  });

  test('says why an action can not be taken now', async () => {
    await choose('detach web-data', 'Detach web-data');
    await note('alert').filter({ hasText: 'is not attached' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Go to a page or a thing', { exact: false }).fill('node-1');
    await dialog().getByRole('option', { name: 'Cordon node-1' }).waitFor();
    expect(await visit.dialogProblems('command-menu-found')).toEqual([]);
    await page.setViewportSize(PHONE);
    expect(await visit.problemsIn('light', 'command-menu-phone', { part: '[role="dialog"]' })).toEqual([]);
    await page.setViewportSize({ width: 1360, height: 900 });
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
  });

  test('switches the theme', async () => {
    await page.emulateMedia({ colorScheme: 'light' });
    await choose('theme', /^Switch to the/);
    await page.locator('html[data-theme="dark"]').waitFor();
    await choose('theme', 'Switch to the light theme');
    await page.locator('html[data-theme="light"]').waitFor();
    // As the browser wants it again: what follows is looked at in both.
    await page.evaluate("localStorage.removeItem('theme')");
    await page.reload();
  });
});

inBrowser('the page of a disk', () => {
  test('tells its copies, and why it can not be removed while it holds some', async () => {
    await openNode();
    const disks = region('Disks');
    for (const name of ['disk-1', 'disk-2']) {
      await disks.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      await region('Copies on it')
        .getByText(/web-data|No copies here/)
        .first()
        .waitFor();
      const isHolding = (await region('Copies on it').getByText('web-data').count()) > 0;
      const remove = button('Remove…');
      expect(await remove.getAttribute('aria-disabled')).toBe(isHolding ? 'true' : null);
      if (isHolding) expect(await remove.getAttribute('title')).toContain('holds replicas');
      if (!isHolding) await expectRemovalPlan(name);
      await page.getByRole('link', { name: 'node-1', exact: true }).click();
    }
  });

  test('no page threw an error in all this', () => {
    expect(visit.errors).toEqual([]);
  });
});
