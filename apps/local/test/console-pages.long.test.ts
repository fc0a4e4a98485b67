/** The console's pages around volumes: settings, events, audit, alerts, a page that is not there, and a sign-in on the way to one. */
import { findBrowser } from '@holdfast/testkit/browser.js';
import { createVolume } from '@holdfast/testkit/cluster-volumes.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { killLongAgo } from './silent-node.js';

const SETTING = 'replica-replenishment-wait-interval';
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

let visit: ConsoleVisit<TestCluster>;
let page: ConsoleVisit['page'];
let volumeId: string;

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  visit = await ConsoleVisit.beginShared(async (cluster) => {
    volumeId = await createVolume(cluster, 'web-data');
  });
  ({ page } = visit);
});

afterAll(() => visit?.end());

const at = (path: string) => new URL(path, visit.stack.local.consoleUrl).href;
const region = (name: string) => page.getByRole('region', { name, exact: true });

inBrowser('the console', () => {
  test('leads back to where one was going when a sign-in came between', async () => {
    await page.goto(at('/events?q=severity!%3Dinfo'));
    await page.getByLabel('Email').fill(visit.stack.local.email);
    await page.getByLabel('Password').fill(visit.stack.local.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Events', exact: true }).waitFor();
    expect(await page.getByLabel('Search events').inputValue()).toBe('severity!=info');
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await region('All events').getByText('volume web-data created').first().waitFor();
    await visit.queryBecomes('');
  });

  test('copies what a list asks, as a command that the CLI runs and as its answer, and exports it as a file', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(at('/events?q=type%3DVolumeCreated'));
    const copied = async (label: string) => {
      await page.getByRole('button', { name: 'Copy as' }).click();
      await page.getByRole('button', { name: label }).click();
      await page.getByText(`Copied as ${label}.`).last().waitFor();
      await page.keyboard.press('Escape');
      return String(await page.evaluate('navigator.clipboard.readText()'));
    };
    const [, ...args] = (await copied('CLI')).replaceAll("'", '').split(' ').slice(1);
    const { stdout } = await visit.stack.cli(...args);
    expect(JSON.parse(stdout).items).toMatchObject([{ type: 'VolumeCreated' }]);
    expect(JSON.parse(await copied('JSON')).items).toMatchObject([{ type: 'VolumeCreated' }]);
    const curl = await copied('curl');
    expect(curl).toContain('$HOLDFAST_TOKEN');
    expect(curl).not.toContain(visit.stack.local.token);

    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByText('at most 100,000', { exact: false }).waitFor();
    expect(await visit.dialogProblems('events-export')).toEqual([]);
    const href = await page.getByRole('link', { name: /^CSV/ }).getAttribute('href');
    const csv = String(await page.evaluate(`fetch(${JSON.stringify(href)}).then((answer) => answer.text())`));
    expect(csv.trimEnd().split('\r\n')).toHaveLength(2);
    await page.keyboard.press('Escape');
  });

  test('finds a setting, sets it, and takes it back to its default', async () => {
    await page.getByRole('link', { name: 'Settings' }).first().click();
    await page.getByLabel('Search settings').fill(SETTING);
    const row = page.getByRole('listitem').filter({ hasText: SETTING });
    await row.getByText('Default', { exact: true }).waitFor();
    const dialog = page.getByRole('dialog');

    await row.getByRole('button', { name: `Change: ${SETTING}` }).click();
    await dialog.getByLabel('Value').fill('-5');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog
      .getByText(/must be/)
      .first()
      .waitFor();
    expect(await visit.dialogProblems('setting-dialog')).toEqual([]);
    await dialog.getByLabel('Value').fill('77');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText(/^Set here/).waitFor();

    await row.getByRole('button', { name: `Change: ${SETTING}` }).click();
    await dialog.getByRole('button', { name: 'Back to the default' }).click();
    await row.getByText('Default', { exact: true }).waitFor();
  });

  test('keeps the search for settings in the address, and leads to the volumes that answer one for themselves', async () => {
    await visit.queryBecomes(`?q=${SETTING}`);
    await page.getByLabel('Search settings').fill('snapshot-max-count');
    const row = page.getByRole('listitem').filter({ hasText: 'snapshot-max-count' });
    await row.getByText('No volume overrides it').waitFor();
    const own = { snapshotMaxCount: 20 };
    expect(await visit.stack.call('PATCH', `/volumes/${volumeId}`, own)).toMatchObject({ status: 200 });
    await page.getByLabel('Only those that volumes override').check();
    await page.reload();
    await visit.queryBecomes('?q=snapshot-max-count&overridden=1');
    expect(await page.getByLabel('Search settings').inputValue()).toBe('snapshot-max-count');
    await row.getByRole('link', { name: '1 volume overrides it' }).waitFor();
    await row.getByRole('link', { name: '1 volume overrides it' }).click();
    await page.getByRole('heading', { name: 'Volumes', exact: true }).waitFor();
    await page.getByRole('row', { name: /web-data/ }).waitFor();
    await visit.queryBecomes('?q=overrides=snapshotMaxCount');
  });

  test('writes names of settings, ids and commands in a font of its own, whatever the machine has', async () => {
    await page.getByRole('link', { name: 'Settings' }).first().click();
    const name = page.getByText(SETTING, { exact: true });
    await name.waitFor();
    const family = 'JetBrains Mono Variable';
    await name.and(page.locator('.font-mono')).waitFor();
    expect(
      await page.evaluate(`getComputedStyle(document.querySelector('.font-mono')).fontFamily`),
    ).toContain(family);
    const loaded = await page.evaluate(
      `document.fonts.ready.then((all) => [...all].filter(({ status }) => status === 'loaded').map((font) => font.family).join())`,
    );
    expect(loaded).toContain(family);
  });

  test('shows who changed that setting, and that the chain of entries holds', async () => {
    await page.getByRole('link', { name: 'Audit' }).first().click();
    const entries = region('All entries');
    // In words; opened, as the API has it.
    const changes = entries.getByRole('listitem').filter({ hasText: 'What changed' });
    const entry = changes.filter({ hasText: /Set a setting/ }).first();
    await entry.getByText('What changed').click();
    await entry.getByText(/^PUT .*\/settings\//).waitFor();
    await page.getByRole('button', { name: 'Refused', exact: true }).click();
    await entries
      .getByText(/setting.*request\.invalid|setting\.invalid/)
      .first()
      .waitFor();
    await region('Does the log hold?').getByRole('button', { name: 'Verify' }).click();
    await region('Does the log hold?')
      .getByText(/entries hold/)
      .waitFor();
  });

  test('tells of a silent node as an alert, which is silenced and told again', async () => {
    await killLongAgo(visit.stack, 'node-3');
    await page.getByRole('link', { name: 'Alerts' }).first().click();
    const alert = page.getByRole('listitem').filter({ hasText: 'node node-3 is not heard' });
    await alert.getByText('Firing').waitFor();
    await alert.getByRole('button', { name: /^Silence/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Why').fill('its disks are exchanged');
    expect(await visit.dialogProblems('silence-dialog')).toEqual([]);
    await dialog.getByRole('button', { name: 'Silence' }).click();
    await alert.getByText('Silenced').waitFor();
    await region('Silences').getByRole('button', { name: 'End' }).click();
    await alert.getByText('Firing').waitFor();
  });

  test('has a page for what is not there', async () => {
    await page.goto(at('/no/such/page'));
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    expect(await visit.problems('not-found')).toEqual([]);
  });

  test('no page threw an error in all this', () => {
    expect(visit.errors).toEqual([]);
  });
});
