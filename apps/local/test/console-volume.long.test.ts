/** The life of a volume in the console: attached, moved, rebuilt, with snapshots, schedules and settings of its own, cloned and deleted. */
import { GIB, MIB } from '@holdfast/core/model/bytes.js';
import { findBrowser } from '@holdfast/testkit/browser.js';
import { changeSetting, createVolume } from '@holdfast/testkit/cluster-volumes.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { connectNbd, pattern } from '@holdfast/testkit/nbd-workload.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const BANDWIDTH = 'replica-rebuilding-bandwidth-limit';
/** What a copy lacks after its node was down: half a minute of a rebuild at the least bandwidth. */
const MISSED_MIB = 32;
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

let visit: ConsoleVisit<TestCluster>;
let cluster: TestCluster;
let page: ConsoleVisit['page'];
let volumeId: string;

type Volume = { endpoint: { nbdUri: string } | null };

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  visit = await ConsoleVisit.beginShared(async (made) => {
    volumeId = await createVolume(made, 'web-data', { sizeBytes: GIB });
  });
  ({ stack: cluster, page } = visit);
  await visit.signIn();
});

afterAll(() => visit?.end());

inBrowser('a volume', () => {
  test('is attached under notes that leave a dialog open, and says why its copies are where they are', async () => {
    await visit.openVolume('web-data');
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
    // Three nodes hold its three copies: one more fits nowhere, and there are ways out.
    await why.getByLabel('Explain').selectOption({ label: 'Where one more copy would go' });
    await why.getByText('Fits nowhere').waitFor();
    await why.getByText(/^Set "Copies may share a node" of the volume to enabled/).waitFor();
    await why.getByRole('row', { name: /Node holds no other copy 3 nodes 3 node occupied \(3\)/ }).waitFor();
    expect(await visit.problems('volume-explained')).toEqual([]);
  });

  test('has its rebuild paused and resumed by the user, and is nowhere called safe meanwhile', async () => {
    const { body } = await cluster.call<Volume>('GET', `/volumes/${volumeId}`);
    const client = await connectNbd(body.endpoint?.nbdUri ?? '');
    cluster.killAgent('node-2');
    await page.getByText('Failed').first().waitFor();
    // That its place would be a good one explains nothing of a copy that has failed.
    const why = page.getByRole('region', { name: 'Why there', exact: true });
    const failed = why.getByRole('option', { name: /^The copy on node-2/ });
    await why.getByLabel('Explain').selectOption(await failed.textContent());
    await why.getByText(/^(No answer|Failed)$/).waitFor();
    expect(await why.getByText('Fits', { exact: true }).count()).toBe(0);
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await page.getByText('1 of 1 volume').waitFor();
    expect(await visit.problems('overview-degraded')).toEqual([]);

    // What the copy misses while it is down has to be sent, and slowly enough for the rebuild to be held up.
    for (let offset = 0; offset < MISSED_MIB * MIB; offset += MIB)
      await client.write(offset, [pattern(offset + 1, MIB)], MIB, { fua: false });
    client.close();
    await changeSetting(cluster, BANDWIDTH, 1);
    await cluster.startAgent('node-2');
    await page.getByRole('link', { name: 'Rebuilds' }).first().click();
    await page.getByRole('button', { name: 'Pause the rebuild of web-data' }).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    expect(await visit.problems('rebuild-paused')).toEqual([]);
    await page.getByRole('link', { name: 'Overview' }).first().click();
    const safe = page.getByRole('region', { name: 'When will it be safe?', exact: true });
    await safe.getByText('Not while rebuilds are paused').waitFor();
    await safe.getByText('1 volume waits for a paused rebuild.').waitFor();
    expect(await safe.getByText('Now', { exact: true }).count()).toBe(0);
    await page.getByRole('link', { name: 'Rebuilds' }).first().click();
    await page.getByRole('button', { name: 'Resume the rebuild of web-data' }).click();
    await page.getByRole('button', { name: 'Pause the rebuild of web-data' }).waitFor();
    await changeSetting(cluster, BANDWIDTH);
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await page.getByText('every copy it should').waitFor();
  });

  test('moves a copy with its plan shown first, and names the copy that a lower count costs', async () => {
    await visit.openVolume('web-data');
    const zone = page.getByRole('region', { name: 'Zone zone-c' });
    await zone.getByRole('button', { name: /^Move the copy on/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/^The copy would move from disk .* of node-3 to disk .* of node-3\.$/).waitFor();
    await dialog.getByText(/have to be copied/).waitFor();
    expect(await visit.dialogProblems('move-plan')).toEqual([]);
    await dialog.getByRole('button', { name: 'Move', exact: true }).click();
    await zone.getByText('Replaces another copy: a user wants it there').waitFor();
    await zone.getByText('Replaces another copy').waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Copies', exact: true }).click();
    await dialog.getByLabel('Copies').fill('2');
    await dialog.getByText(/^Goes: node-\d/).waitFor();
    expect(await visit.dialogProblems('copies-plan')).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
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
    expect(await visit.dialogProblems('revert-plan')).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Revert' }).click();
    await panel
      .getByRole('listitem')
      .filter({ hasText: 'tuesday' })
      .filter({ hasText: 'on a branch' })
      .waitFor();
    expect(await visit.problems('volume-snapshots')).toEqual([]);
    await page.getByRole('button', { name: 'Resize' }).click();
    await page.getByRole('dialog').getByLabel('New size in GiB').fill('2');
    await page.getByRole('dialog').getByText('It has 1 GiB and gets 2 GiB.').waitFor();
    expect(await visit.dialogProblems('resize-plan')).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Resize' }).click();
    await page.getByText(/^2 GiB, /).waitFor();
    // The expansion has left a layer under the head: a purge by hand finds it again, and says that it was there.
    const purges = async () => {
      const list = '/events?limit=200&filter=type%3DVolumePurged';
      return (await cluster.call<{ items: unknown[] }>('GET', list)).body.items.length;
    };
    const before = await purges();
    await panel.getByRole('button', { name: 'Purge' }).click();
    await eventually('the volume is purged', purges, (count) => count > before);
    // The plan is of the layers as they were last reported, and is not drawn anew while its dialog is open.
    const isPlanned = async () => {
      await panel.getByRole('button', { name: 'Delete tuesday' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(/can not be reverted to it any more/).waitFor();
      const found = await dialog
        .getByText(/^Its .* are removed from each copy: nothing stands on them\.$/)
        .count();
      if (found === 0) await dialog.getByRole('button', { name: 'Cancel' }).click();
      return found;
    };
    await eventually('the plan of the deletion names no later layer', isPlanned, (found) => found === 1);
    expect(await visit.dialogProblems('snapshot-deletion-plan')).toEqual([]);
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
    expect(await visit.dialogProblems('schedule-dialog')).toEqual([]);
    await dialog.getByLabel('When, in UTC').fill('0 3 * * *');
    await dialog.getByRole('button', { name: 'Save schedule' }).click();
    await panel.getByText('Keeps 7').waitFor();
    await panel.getByRole('button', { name: 'Change nightly' }).click();
    await dialog.getByLabel('Snapshots to keep').fill('3');
    await dialog.getByRole('button', { name: 'Save schedule' }).click();
    await panel.getByText(/Keeps 3 · next in \d+[hm]/).waitFor();
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
    expect(await visit.dialogProblems('volume-setting-dialog')).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await panel
      .getByRole('listitem')
      .filter({ hasText: 'Rebuild when not in use' })
      .getByText('Set here')
      .waitFor();
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
    expect(await visit.dialogProblems('clone-dialog')).toEqual([]);
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
    await panel.getByText('0 removes the limit.').waitFor();
    await panel.getByLabel('MiB/s for each node').fill('0');
    await panel.getByRole('button', { name: 'Set limit' }).click();
    await panel.getByText('No limit is set.').waitFor();
    await visit.openVolume('web-data');
  });

  test('detaches, verifies and deletes, asking for the name', async () => {
    await visit.openVolume('web-data');
    await page.getByRole('button', { name: 'Detach' }).click();
    await page
      .getByRole('dialog')
      .getByText(/^Its address 127\.0\.0\.1:\d+ on node-\d ends: clients that are connected lose it/)
      .waitFor();
    expect(await visit.dialogProblems('detach-plan')).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Detach' }).click();
    await page.getByText('Detached').first().waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('All equal', { exact: true }).waitFor();
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
