/**
 * States of a console panel: before its data, without data, with an error, and with data that is out of date. In a real
 * browser on a real stack, with single answers of the API held back or cut off on their way.
 */
import { MIB } from '@holdfast/core/model/bytes.js';
import { findBrowser } from '@holdfast/testkit/browser.js';
import { createVolume } from '@holdfast/testkit/cluster-volumes.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { aGate, tryAgain } from '@holdfast/testkit/held-requests.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

let visit: ConsoleVisit<TestCluster>;
let page: ConsoleVisit['page'];
let volumeId: string;
/** No engine serves it, which could drop a copy on a busy machine and have it rebuilt. */
let idleId: string;

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  visit = await ConsoleVisit.beginShared(async (cluster) => {
    volumeId = await createVolume(cluster, 'web-data', { attachTo: 'node-1' });
    await cluster.call('POST', `/volumes/${volumeId}/snapshots`, { name: 'base' });
    idleId = await createVolume(cluster, 'idle');
  });
  ({ page } = visit);
  await visit.signIn();
});

afterAll(() => visit?.end());

beforeEach(() => page?.unrouteAll());

type Panel = { name: string; at: () => string; asks: RegExp; shows: string };

const VOLUME = () => `/volumes/${volumeId}`;
const PANELS: readonly Panel[] = [
  { name: 'Orphans', at: () => '/nodes', asks: /\/orphans\?/, shows: 'No orphans' },
  {
    name: 'Bandwidth of rebuilds',
    at: () => '/rebuilds',
    asks: /\/settings\/replica-rebuilding-bandwidth-limit$/,
    shows: 'No limit is set.',
  },
  {
    name: 'Running and waiting',
    at: () => '/rebuilds',
    asks: /\/rebuilds\?/,
    shows: 'Nothing is being rebuilt',
  },
  {
    name: 'Rebuilds',
    at: () => `/volumes/${idleId}`,
    asks: /\/rebuilds\?/,
    shows: 'None of its copies ever had to be rebuilt.',
  },
  { name: 'Settings of this volume', at: VOLUME, asks: /\/settings$/, shows: 'Snapshots at most' },
  { name: 'Snapshots', at: VOLUME, asks: /\/snapshots\?/, shows: 'base' },
];

inBrowser('the console', () => {
  test.each(PANELS)(
    '$name: is loading, says what is wrong, shows its data, and says when that is old',
    async ({ name, at, asks, shows }) => {
      const loading = aGate();
      await page.route(asks, async (route) => {
        await loading.opened;
        await route.abort();
      });
      await page.goto(new URL(at(), visit.stack.local.consoleUrl).href);
      const panel = page.getByRole('region', { name, exact: true });
      await panel.getByRole('status', { name: 'Loading' }).waitFor();
      loading.open();
      await panel.getByRole('alert').waitFor();
      await tryAgain(page, panel, asks);
      await panel.getByText(shows).first().waitFor();

      await page.route(asks, (route) => route.abort());
      await page.getByText('Live', { exact: true }).waitFor();
      // After a cut the console asks for all data again, and this panel's still gets no answer.
      await page.context().setOffline(true);
      await page.getByText(/^The API does not answer\. Not current: this is from/).waitFor();
      await page.context().setOffline(false);
      await page.getByText('Live', { exact: true }).waitFor();
      await panel.getByText(shows).first().waitFor();
      await panel.getByText(/^Not current: this is from/).waitFor();
      await tryAgain(page, panel, asks);
      await panel.getByText(/^Not current/).waitFor({ state: 'detached' });
    },
  );

  test('schedules are a part of the volume, and as current as it', async () => {
    const asks = new RegExp(`/volumes/${volumeId}$`);
    await page.route(asks, (route) =>
      route.request().resourceType() === 'fetch' ? route.abort() : route.continue(),
    );
    await page.goto(new URL(VOLUME(), visit.stack.local.consoleUrl).href);
    await page.getByRole('status', { name: 'Loading' }).first().waitFor();
    await page.getByText('Could not load the volume').waitFor();
    await page.unroute(asks);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('region', { name: 'Recurring snapshots' }).getByText('No schedule yet').waitFor();
  });

  test('what is sent and gets no answer stays in its dialog, which says that it may have been done', async () => {
    await page.goto(new URL(VOLUME(), visit.stack.local.consoleUrl).href);
    const dialog = page.getByRole('dialog');
    await page.route(/\/recurring-snapshots\/|\/clone$/, (route) => route.abort());

    await page.getByRole('button', { name: 'Add schedule' }).click();
    await dialog.getByLabel('Name').fill('nightly');
    await dialog.getByRole('button', { name: 'Save schedule' }).click();
    await dialog.getByText('There was no answer. It may have been saved.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await page.getByRole('button', { name: 'Clone base' }).click();
    await dialog.getByLabel('Name of the clone').fill('copy');
    await dialog.getByRole('button', { name: 'Clone' }).click();
    await dialog.getByText('There was no answer. It may have been made.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await page.route(new RegExp(`/volumes/${volumeId}$`), (route) =>
      route.request().method() === 'PATCH' ? route.abort() : route.continue(),
    );
    await page.getByRole('button', { name: 'Change: Snapshots at most' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('There was no answer. It may have been set.').waitFor();
  });

  test('what goes on moves without waking the page, and stands still for those who want less motion', async () => {
    const { stack } = visit;
    // While all agents stand still no copy is made.
    signalAgents('SIGSTOP');
    await stack.call('POST', '/volumes', { name: 'unmade', size: 16 * MIB, numberOfReplicas: 2 });
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await page.goto(new URL('/volumes', stack.local.consoleUrl).href);
    await page.getByRole('row', { name: 'unmade' }).getByText('Creating', { exact: true }).first().waitFor();
    // React listens to what CSS animations tell of themselves: each turn of each of them would be work of the page.
    expect(await endlessMotions()).toEqual(['Animation']);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.reload();
    await page.getByRole('row', { name: 'unmade' }).getByText('Creating', { exact: true }).first().waitFor();
    expect(await endlessMotions()).toEqual([]);
    signalAgents('SIGCONT');
  });

  test('no page threw an error in all this', () => {
    expect(visit.errors).toEqual([]);
  });
});

function signalAgents(name: NodeJS.Signals): void {
  for (const { pid } of visit.stack.local.agents) process.kill(-pid, name);
}

/** Kinds of what moves on the page without end, as the browser names them. */
function endlessMotions(): Promise<string[]> {
  return page.evaluate(`[...new Set(document.getAnimations()
    .filter(({ effect }) => effect.getTiming().iterations === Infinity)
    .map((animation) => animation.constructor.name))]`);
}
