/**
 * The console of a user who may only look: every button that writes is there, says why it can't be pressed, and no page has the API
 * refuse anything. In a cluster with a dead node, and a rebuild that waits.
 */
import { findBrowser } from '@holdfast/testkit/browser.js';
import { changeSetting, createVolume } from '@holdfast/testkit/cluster-volumes.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OrganizationCalls } from './organization-calls.js';
import { killLongAgo } from './silent-node.js';

const VIEWER = { email: 'viewer@example.org', name: 'Vera', password: 'a sentence with 9 words' };
/** What the table of roles says to a viewer about what takes another role. */
const REASON = /viewer/;
const PRESSED_MAX = 40;
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

let visit: ConsoleVisit<TestCluster>;
let page: ConsoleVisit['page'];
/** What the API refused, with the page that asked. */
const refused: string[] = [];

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  visit = await ConsoleVisit.beginShared(makeThings, { agents: 4 });
  ({ page } = visit);
  await signInAsViewer();
  page.on('response', (response) => {
    if (response.status() === 403)
      refused.push(`${page.url()}: ${response.request().method()} ${response.url()}`);
  });
});

afterAll(() => visit?.end());

const at = (path: string) => new URL(path, visit.stack.local.consoleUrl).href;

inBrowser('a viewer', () => {
  // Pages, with their buttons that write.
  test.each<[path: string, writes: readonly RegExp[]]>([
    ['/', []],
    ['/volumes', [/^Create volume$/]],
    ['/nodes', [/^Add node…$/, /^Cordon$/, /^Drain…$/, /^Maintenance…$/]],
    ['/topology', []],
    ['/capacity', []],
    ['/rebuilds', [/^Pause the rebuild/, /^Cancel the rebuild/, /^Set limit$/]],
    ['/alerts', [/^Silence:/, /^End$/]],
    ['/events', []],
    ['/what-if', [/^Try it$/]],
    ['/settings', [/^Change: replica-replenishment-wait-interval$/]],
    ['/audit', []],
  ])('%s offers nothing that would be refused', async (path, writes) => {
    refused.length = 0;
    await page.goto(at(path));
    await expectReasons(writes);
    await pressAll();
    expect(refused).toEqual([]);
  });

  const ofVolume = [
    /^Attach$/,
    /^Detach$/,
    /^Verify$/,
    /^Resize$/,
    /^Copies$/,
    /^Delete$/,
    /^Purge$/,
    /^Take snapshot$/,
    /^Clone before$/,
    /^Revert to before$/,
    /^Check before on every copy$/,
    /^Delete before$/,
    /^Move the copy on/,
    /^Add schedule$/,
    /^Change nightly$/,
    /^End nightly/,
    /^Pause the rebuild/,
    /^Set label$/,
    /^Change: Snapshots at most$/,
  ];

  test("a volume's page says of every action why a viewer may not take it", async () => {
    refused.length = 0;
    await visit.openVolume('pg-data');
    await expectReasons(ofVolume);
    await pressAll();
    expect(refused).toEqual([]);
  });

  test('may select volumes, and do nothing with them', async () => {
    await page.goto(at('/volumes'));
    await page.getByLabel('Select pg-data').check();
    await expectReasons([/^Take snapshots$/, /^Set a label$/, /^Set copies$/, /^Delete$/, /^Detach$/]);
    expect(visit.errors).toEqual([]);
  });
});

/** Each of the buttons is on the page, can't be pressed, and gives the reason of the table of roles. */
async function expectReasons(names: readonly RegExp[]): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  const told = new Map<string, string>();
  for (const name of names) {
    const button = page.locator('main').getByRole('button', { name }).first();
    await button.waitFor();
    // Rights are read once the page is there.
    await button
      .and(page.locator('[aria-disabled="true"][title*="viewer"]'))
      .waitFor({ timeout: 10_000 })
      .catch(() => undefined);
    told.set(String(name), (await button.getAttribute('title')) ?? 'can be pressed');
  }
  expect([...told].filter(([, title]) => !REASON.test(title))).toEqual([]);
}

/** Presses what can be pressed in the page, and leaves the dialogs that it opens. */
async function pressAll(): Promise<void> {
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
  const names = await page
    .locator('main button:not([aria-disabled="true"])')
    .evaluateAll((buttons) =>
      buttons.map((button) => (button.getAttribute('aria-label') ?? button.textContent ?? '').trim()),
    );
  for (const name of [...new Set(names)].filter((one) => one !== '').slice(0, PRESSED_MAX)) {
    const button = page.locator('main').getByRole('button', { name, exact: true }).first();
    if ((await button.count()) === 0) continue;
    await button.click({ timeout: 5_000 });
    if ((await page.getByRole('dialog').count()) > 0) await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
}

/** What there is to act on: a snapshot, a schedule, a silence, an alert, and a rebuild that waits. */
async function makeThings(cluster: TestCluster): Promise<void> {
  await changeSetting(cluster, 'concurrent-rebuild-per-cluster-limit', 0);
  await changeSetting(cluster, 'replica-replenishment-wait-interval', 0);
  const id = await createVolume(cluster, 'pg-data', { attachTo: 'node-1' });
  await cluster.call('POST', `/volumes/${id}/snapshots`, { name: 'before' });
  const schedule = ['pg-data', 'nightly', '--cron', '0 3 * * *', '--retain', '7'];
  await cluster.cliJson('snapshot', 'schedule', 'set', ...schedule);
  const endsAt = new Date(Date.now() + 3_600_000).toISOString();
  await cluster.cliJson('alert', 'silence', 'rule=disk-full', '--comment', 'known', '--until', endsAt);
  // Both are alone in their zones, so each holds a copy. One that comes back is taken back, as soon as a rebuild may start.
  await killLongAgo(cluster, 'node-3');
  cluster.killAgent('node-2');
  await eventually(
    'both copies have failed',
    async () =>
      (await cluster.call<{ replicas: { state: string }[] }>('GET', `/volumes/${id}`)).body.replicas,
    (replicas) => replicas.filter(({ state }) => state === 'failed').length === 2,
  );
  await cluster.startAgent('node-2');
  for (const list of ['/rebuilds?filter=state%3Dqueued', '/alerts'])
    await eventually(
      `there is one of ${list}`,
      async () => (await cluster.call<{ items: unknown[] }>('GET', list)).body.items,
      (items) => items.length > 0,
    );
}

async function signInAsViewer(): Promise<void> {
  const { local } = visit.stack;
  const admin = await OrganizationCalls.signIn(local, local.email, local.password);
  const secret = new URL(await admin.invite(VIEWER.email)).hash.slice(1);
  const { email, ...account } = VIEWER;
  const accepted = await fetch(`${local.apiUrl}/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...account, secret }),
  });
  expect(accepted.status).toBe(201);
  await page.goto(local.consoleUrl);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(VIEWER.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}
