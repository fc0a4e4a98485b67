/** The console in a real browser on a real stack: sign in, create, attach, watch a node die and come back. */
import { MIB } from '@holdfast/core/model/bytes.js';
import { findBrowser } from '@holdfast/testkit/browser.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { connectNbd, pattern } from '@holdfast/testkit/nbd-workload.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const CLUSTER_LIMIT = 'concurrent-rebuild-per-cluster-limit';
const BANDWIDTH_SETTING = 'replica-rebuilding-bandwidth-limit';
const executable = findBrowser();
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = executable === undefined ? describe.skip : describe;

type Volume = { id: string; endpoint: { nbdUri: string } | null };

let visit: ConsoleVisit;
let stack: ConsoleVisit['stack'];
let page: ConsoleVisit['page'];

async function expectAccessible(name: string): Promise<void> {
  expect(await visit.problems(name)).toEqual([]);
}

beforeAll(async () => {
  if (executable === undefined) return;
  visit = await ConsoleVisit.begin(executable);
  ({ stack, page } = visit);
});

afterAll(() => visit?.end());

inBrowser('the console', () => {
  test('asks the user to sign in, refuses a wrong password, and takes the right one', async () => {
    await page.goto(stack.local.consoleUrl);
    await page.getByRole('heading', { name: 'Sign in to Holdfast' }).waitFor();
    await expectAccessible('sign-in');
    await page.getByLabel('Email').fill(stack.local.email);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('form [role="alert"]').waitFor();
    await page.getByLabel('Password').fill(stack.local.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('No volumes yet').waitFor();
    await page.getByText('node-3').first().waitFor();
    await expectAccessible('overview-empty');
  });

  test('creates a volume, refusing what is wrong beside the field', async () => {
    await page.getByRole('link', { name: 'Volumes' }).first().click();
    await page.getByRole('heading', { name: 'Volumes', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Create volume' }).first().click();
    await page.getByLabel('Name').fill('Bad Name!');
    await page.getByRole('dialog').getByRole('button', { name: 'Create volume' }).click();
    await page.getByRole('dialog').locator('[aria-invalid="true"]').waitFor();
    await page.getByLabel('Name').fill('web-data');
    await page.getByRole('dialog').getByRole('button', { name: 'Create volume' }).click();
    await page.getByRole('heading', { name: 'web-data' }).waitFor();
    for (const zone of ['zone-a', 'zone-b', 'zone-c'])
      await page.getByRole('region', { name: `Zone ${zone}` }).waitFor();
  });

  test('attaches it and shows the address to copy', async () => {
    await page.getByRole('button', { name: 'Attach' }).click();
    await page.getByRole('dialog').getByLabel('Node').selectOption({ label: 'node-1, holds a copy' });
    await page.getByRole('dialog').getByRole('button', { name: 'Attach' }).click();
    const note = page.getByRole('status').filter({ hasText: 'web-data is being attached.' });
    // A note over a dialog is read, or closed, without the dialog going away. The pointer rests on it, so that it stays.
    await note.hover();
    await page.getByRole('button', { name: 'Copies', exact: true }).press('Enter');
    await page.getByRole('dialog').waitFor();
    await note.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page
      .getByText(/^nbd:\/\/127\.0\.0\.1/)
      .first()
      .waitFor();
    await page.getByText('Healthy').first().waitFor();
    const why = page.getByRole('region', { name: 'Why there', exact: true });
    await why.getByText('All 3 replicas of web-data have a place.').waitFor();
    await why.getByText(/The replica is on disk .* Asked today, the scheduler chooses/).waitFor();
    await why.getByText('Rule by rule, with the numbers').click();
    await why.getByText('Chosen', { exact: true }).first().waitFor();
    await expectAccessible('volume-attached');
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await page.setViewportSize({ width: 1360, height: 900 });
    // Three nodes hold its three copies: one more fits nowhere, and there are ways out.
    await why.getByLabel('Explain').selectOption({ label: 'Where one more copy would go' });
    await why.getByText('Fits nowhere').waitFor();
    await why.getByText(/^Set "Copies may share a node" of the volume to enabled/).waitFor();
    await why.getByRole('row', { name: /Node holds no other copy 3 nodes 3 node occupied \(3\)/ }).waitFor();
    await expectAccessible('volume-explained');
  });

  test('says within 15 s that a node died, and shows the rebuild to its end', async () => {
    const volume = await stack.cliJson<Volume>('volume', 'get', 'web-data');
    const client = await connectNbd(volume.endpoint?.nbdUri ?? '');
    // What is written is followed while the writer goes on.
    for (const through of [64, 256]) {
      for (let offset = through === 64 ? 0 : 64 * MIB; offset < through * MIB; offset += MIB) {
        await client.write(offset, [pattern(offset, MIB)], MIB, { fua: false });
      }
      await client.flush();
      await page.getByText(`1 GiB, ${through} MiB written`).waitFor();
    }
    stack.killAgent('node-2');
    await page.getByText('Degraded').first().waitFor();
    await page.getByText('Failed').first().waitFor();
    // That its place would be a good one explains nothing of a copy that has failed.
    const why = page.getByRole('region', { name: 'Why there', exact: true });
    const failed = why.getByRole('option', { name: /^The copy on node-2/ });
    await why.getByLabel('Explain').selectOption(await failed.textContent());
    await why.getByText(/^(No answer|Failed)$/).waitFor();
    expect(await why.getByText('Fits', { exact: true }).count()).toBe(0);
    const rebuilds = page.getByRole('region', { name: 'Rebuilds', exact: true });
    await rebuilds.getByText(/^The copy on node-2 may come back: no new one is built until /).waitFor();
    await expectAccessible('volume-degraded');
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await page.getByText('1 of 1 volume').waitFor();
    await page.getByRole('list', { name: 'Not in the queue yet' }).getByText('web-data').waitFor();
    await expectAccessible('overview-degraded');

    // What the copy misses while it is away has to be sent, and slowly enough for the rebuild to be held up.
    for (let offset = 0; offset < 64 * MIB; offset += MIB) {
      await client.write(offset, [pattern(offset + 1, MIB)], MIB, { fua: false });
    }
    await stack.cli('setting', 'set', BANDWIDTH_SETTING, '4');
    await stack.cli('setting', 'set', CLUSTER_LIMIT, '0');
    const started = stack.cli('local', 'start-agent', 'node-2');
    await page.getByText(`No rebuild may start: ${CLUSTER_LIMIT} is 0.`).waitFor();
    const safe = page.getByRole('region', { name: 'When will it be safe?', exact: true });
    await safe.getByText('Not while rebuilds are paused').waitFor();
    expect(await safe.getByText('Now', { exact: true }).count()).toBe(0);
    await visit.picture('overview-waiting');
    await stack.cli('setting', 'reset', CLUSTER_LIMIT);
    await page.getByRole('progressbar').first().waitFor();
    await visit.picture('overview-rebuilding');
    expect((await started).exitCode).toBe(0);
    await page.getByRole('link', { name: 'Rebuilds' }).first().click();
    await page.getByRole('button', { name: 'Pause the rebuild of web-data' }).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    await expectAccessible('rebuild-paused');
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await safe.getByText('Not while rebuilds are paused').waitFor();
    await safe.getByText('1 volume waits for a paused rebuild.').waitFor();
    expect(await safe.getByText('Now', { exact: true }).count()).toBe(0);
    await page.getByRole('link', { name: 'Rebuilds' }).first().click();
    await page.getByRole('button', { name: 'Resume the rebuild of web-data' }).click();
    await page.getByRole('button', { name: 'Pause the rebuild of web-data' }).waitFor();
    await stack.cli('setting', 'set', BANDWIDTH_SETTING, '0');
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await page.getByText('every copy it should').waitFor({ timeout: 120_000 });
    await expectAccessible('overview-healthy');
    client.close();
  });

  test('moves a copy with its plan shown first, and names the copy that a lower count costs', async () => {
    await page.getByRole('link', { name: 'Volumes' }).first().click();
    await page.getByRole('link', { name: 'web-data' }).first().click();
    const zone = page.getByRole('region', { name: 'Zone zone-c' });
    await zone.getByRole('button', { name: /^Move the copy on/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/^The copy would move from disk .* of node-3 to disk .* of node-3\.$/).waitFor();
    await dialog.getByText(/have to be copied/).waitFor();
    await expectAccessible('move-plan');
    await dialog.getByRole('button', { name: 'Move', exact: true }).click();
    await zone.getByText('Replaces another copy: a user wants it there').waitFor();
    await zone.getByText('Replaces another copy').waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Copies', exact: true }).click();
    await dialog.getByLabel('Copies').fill('2');
    await dialog.getByText(/^Goes: node-\d/).waitFor();
    await expectAccessible('copies-plan');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  test.each([
    { link: 'Nodes and disks', heading: 'Nodes and disks', shows: 'node-2', name: 'nodes' },
    { link: 'Rebuilds', heading: 'Rebuilds', shows: 'Done', name: 'rebuilds' },
    { link: 'Events', heading: 'Events', shows: 'node-2', name: 'events' },
    { link: 'Volumes', heading: 'Volumes', shows: 'web-data', name: 'volumes' },
  ])('$link is accessible', async ({ link, heading, shows, name }) => {
    await page.getByRole('link', { name: link }).first().click();
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await page.getByText(shows).first().waitFor();
    await expectAccessible(name);
  });

  test('drains a node with its plan shown first, says what the drain waits for, and ends it', async () => {
    await page.getByRole('link', { name: 'Nodes and disks' }).first().click();
    await page.getByRole('button', { name: 'Drain…' }).nth(2).click();
    const dialog = page.getByRole('dialog', { name: 'Drain node-3' });
    await dialog.getByRole('region', { name: 'Plan' }).waitFor();
    await dialog.getByLabel('It may be switched off').selectOption('block-for-eviction');
    await dialog.getByText('It will wait until you have done something about these:').waitFor();
    await expectAccessible('drain-plan');
    await dialog.getByRole('button', { name: 'Drain', exact: true }).click();
    const note = page.getByRole('region', { name: 'Drain of node-3' });
    await note
      .getByText(/web-data/)
      .first()
      .waitFor();
    await expectAccessible('draining');
    await page.getByRole('button', { name: 'Cancel drain' }).click();
    await note.waitFor({ state: 'detached' });
  });

  test('simulates the loss of a zone, and new volumes', async () => {
    await page.getByRole('link', { name: 'What if' }).first().click();
    await page.getByText('Nothing asked yet').waitFor();
    await expectAccessible('what-if-empty');
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
    await expectAccessible('what-if');
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
    await page.goto(`${stack.local.consoleUrl}/what-if?drain=node-1&policy=block-for-eviction&limit=2`);
    await answer.waitFor();
    expect(await page.getByRole('group', { name: 'Drain nodes' }).getByLabel('node-1').isChecked()).toBe(
      true,
    );
    await page.getByRole('table', { name: 'Forecast of volumes' }).getByText('web-data').waitFor();
    await expectAccessible('what-if-drain');
    await page.getByRole('group', { name: 'Drain nodes' }).getByLabel('node-1').uncheck();
    await page.getByRole('group', { name: 'Lose nodes' }).getByLabel('node-1').check();
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.waitForURL(/node=node-1/);
    await page.getByText(/loses 1 replica/).waitFor();
    await expectAccessible('what-if-loss');
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
    await expectAccessible('what-if-further');
    await page.goto(`${stack.local.consoleUrl}/what-if?drain=node-9`);
    await page.getByText('names no node that is left: node-9').first().waitFor();
    await expectAccessible('what-if-wrong');
  });

  test('takes snapshots, goes back to one, deletes one and grows, and draws what stands on what', async () => {
    await visit.openVolume('web-data');
    const panel = page.getByRole('region', { name: 'Snapshots', exact: true });
    for (const name of ['monday', 'tuesday']) {
      await panel.getByRole('button', { name: 'Take snapshot' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill(name);
      await page.getByRole('dialog').getByRole('button', { name: 'Take snapshot' }).click();
      await panel.getByRole('button', { name: `Revert to ${name}` }).waitFor();
    }
    await panel.getByRole('button', { name: 'Check monday on every copy' }).click();
    await panel.locator('code').first().waitFor();
    await panel.getByRole('button', { name: 'Revert to monday' }).click();
    await page
      .getByRole('dialog')
      .getByText(/ that were written since the last snapshot are lost, on all copies\.$/)
      .waitFor();
    await expectAccessible('revert-plan');
    await page.getByRole('dialog').getByRole('button', { name: 'Revert' }).click();
    await panel
      .getByRole('listitem')
      .filter({ hasText: 'tuesday' })
      .filter({ hasText: 'on a branch' })
      .waitFor();
    await expectAccessible('volume-snapshots');
    await page.getByRole('button', { name: 'Resize' }).click();
    await page.getByRole('dialog').getByLabel('New size in GiB').fill('2');
    await page.getByRole('dialog').getByText('It has 1 GiB and gets 2 GiB.').waitFor();
    await expectAccessible('resize-plan');
    await page.getByRole('dialog').getByRole('button', { name: 'Resize' }).click();
    await page.getByText(/^2 GiB, /).waitFor();
    // The expansion has left a layer under the head: a purge by hand finds it again, and says that it was there.
    const purges = async () => {
      const { items } = await stack.cliJson<{ items: { type: string }[] }>('event', 'list', '--limit', '200');
      return items.filter(({ type }) => type === 'VolumePurged').length;
    };
    const before = await purges();
    await panel.getByRole('button', { name: 'Purge' }).click();
    await eventually('the volume is purged', purges, (count) => count > before);
    await panel.getByRole('button', { name: 'Delete tuesday' }).click();
    await page
      .getByRole('dialog')
      .getByText(/^Its .* are removed from each copy: nothing stands on them\.$/)
      .waitFor();
    await expectAccessible('snapshot-deletion-plan');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete snapshot' }).click();
    await panel.getByRole('listitem').filter({ hasText: 'tuesday' }).waitFor({ state: 'detached' });
  });

  test('schedules snapshots, refusing what is wrong beside the field, changes and ends a schedule', async () => {
    const panel = page.getByRole('region', { name: 'Recurring snapshots', exact: true });
    await panel.getByText('No schedule yet').waitFor();
    await panel.getByRole('button', { name: 'Add schedule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('nightly');
    await dialog.getByLabel('When, in UTC').fill('often');
    await dialog.getByRole('button', { name: 'Save schedule' }).click();
    await dialog.getByText(/^must be five fields/).waitFor();
    await expectAccessible('schedule-dialog');
    await dialog.getByLabel('When, in UTC').fill('0 3 * * *');
    await dialog.getByRole('button', { name: 'Save schedule' }).click();
    await panel.getByText('Keeps 7').waitFor();
    await panel.getByRole('button', { name: 'Change nightly' }).click();
    await dialog.getByLabel('Snapshots to keep').fill('3');
    await dialog.getByRole('button', { name: 'Save schedule' }).click();
    await panel.getByText(/Keeps 3 · next in \d+[hm]/).waitFor();
    await expectAccessible('volume-schedule');
    await panel.getByRole('button', { name: 'End nightly; its snapshots stay' }).click();
    await panel.getByText('No schedule yet').waitFor();
  });

  test('shows which settings are in effect, changes one for the volume, and has it follow the cluster again', async () => {
    const panel = page.getByRole('region', { name: 'Settings of this volume' });
    const row = panel.getByRole('listitem').filter({ hasText: 'Snapshots at most' });
    await row.getByText("The cluster's default").waitFor();
    await row.getByRole('button', { name: 'Change: Snapshots at most' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('From 2 to 250. The cluster says 239.').waitFor();
    await dialog.getByLabel('Value').fill('20');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('the cluster says 239').waitFor();
    await panel.getByRole('button', { name: 'Change: Rebuild when not in use' }).click();
    await dialog.getByLabel('Value').selectOption({ label: 'Yes' });
    await expectAccessible('volume-setting-dialog');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await panel
      .getByRole('listitem')
      .filter({ hasText: 'Rebuild when not in use' })
      .getByText('Set here')
      .waitFor();
    await expectAccessible('volume-settings');
    await row.getByRole('button', { name: 'Change: Snapshots at most' }).click();
    await dialog.getByRole('button', { name: 'Follow the cluster' }).click();
    await row.getByText("The cluster's default").waitFor();
  });

  test('clones a snapshot into a volume that is filled, and refuses a name that is taken', async () => {
    const panel = page.getByRole('region', { name: 'Snapshots', exact: true });
    await panel.getByRole('button', { name: 'Clone monday' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the clone').fill('web-data');
    await dialog.getByRole('button', { name: 'Clone' }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    await expectAccessible('clone-dialog');
    await dialog.getByLabel('Name of the clone').fill('web-copy');
    await dialog.getByRole('button', { name: 'Clone' }).click();
    await page.getByRole('heading', { name: 'web-copy' }).waitFor();
    await page.getByText('Detached', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByLabel('Type web-copy to confirm').fill('web-copy');
    await page.getByRole('button', { name: 'Delete volume' }).click();
    await page.getByRole('link', { name: 'web-copy' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'web-data', exact: true }).click();
    await page.getByRole('heading', { name: 'web-data' }).waitFor();
  });

  test("sets and takes away the nodes' limit of rebuild bandwidth", async () => {
    await page.getByRole('link', { name: 'Rebuilds' }).first().click();
    const panel = page.getByRole('region', { name: 'Bandwidth of rebuilds' });
    await panel.getByText('No limit is set.').waitFor();
    await panel.getByLabel('MiB/s for each node').fill('40');
    await panel.getByRole('button', { name: 'Set limit' }).click();
    await panel.getByText('0 takes the limit away.').waitFor();
    await expectAccessible('rebuild-limit');
    await panel.getByLabel('MiB/s for each node').fill('0');
    await panel.getByRole('button', { name: 'Set limit' }).click();
    await panel.getByText('No limit is set.').waitFor();
    await visit.openVolume('web-data');
  });

  test('connects again after the api was killed, and says meanwhile that it is not live', async () => {
    process.kill(stack.local.processes.api, 'SIGKILL');
    // "No answer" takes the place of "Reconnecting…" as soon as a panel's own request has failed as well.
    await page.getByText(/^(Reconnecting…|No answer)$/).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  test('detaches, verifies and deletes, asking for the name', async () => {
    await visit.openVolume('web-data');
    await page.getByRole('button', { name: 'Detach' }).click();
    await page
      .getByRole('dialog')
      .getByText(/^Its address 127\.0\.0\.1:\d+ on node-\d ends: clients that are connected lose it/)
      .waitFor();
    await expectAccessible('detach-plan');
    await page.getByRole('dialog').getByRole('button', { name: 'Detach' }).click();
    await page.getByText('Detached').first().waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('All equal', { exact: true }).waitFor({ timeout: 90_000 });
    await expectAccessible('volume-verified');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByLabel('Type web-data to confirm').fill('web-data');
    await page.getByRole('button', { name: 'Delete volume' }).click();
    // Agents take its copies away first, beside whatever else the machine does.
    await page.getByText('No volumes yet').waitFor();
  });

  test('no page threw an error in all this', () => {
    expect(visit.errors).toEqual([]);
  });
});
