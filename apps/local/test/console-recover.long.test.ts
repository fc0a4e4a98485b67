/** Lost volumes: a browser tells of one and makes it again; and one that was deleted comes back where a user asks for that. */
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import { removeEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import { findBrowser } from '@holdfast/testkit/browser.js';
import { listsToCopy } from '@holdfast/testkit/console-pages.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { pattern } from '@holdfast/testkit/nbd-workload.js';
import { readVolume, writeVolume } from '@holdfast/testkit/volume-bytes.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const DATA = pattern(1, MIB);
const executable = findBrowser();
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = executable === undefined ? describe.skip : describe;

type Volume = { attention: { code: string } | null };
type Plan = { items: { name: string; obstacle: { code: string } | null }[] };
let visit: ConsoleVisit;
let page: ConsoleVisit['page'];

beforeAll(async () => {
  if (executable === undefined) return;
  visit = await ConsoleVisit.begin(executable, async (local) => {
    await local.cliJson('volume', 'create', 'orders', '--size', '16Mi', '--replicas', '2');
    await local.cliJson('volume', 'attach', 'orders');
    await writeVolume(local, 'orders', 0, DATA);
    await local.stop();
    removeEmbeddedPostgres(path.join(local.home, 'postgres'));
    await local.run();
  });
  ({ page } = visit);
  await visit.signIn();
});

afterAll(() => visit?.end());

inBrowser('a lost volume', () => {
  test('is told of on the overview, and made again once a user says that its control plane is lost', async () => {
    const { stack } = visit;
    const lost = page.getByRole('region', { name: 'Lost volumes', exact: true });
    await lost.getByText('are of 1 volume that the database does not know').waitFor();
    expect(await visit.problems('lost-volumes-overview')).toEqual([]);

    await lost.getByRole('link', { name: 'See what was found' }).click();
    await lost.getByRole('row', { name: /orders.*16 MiB.*2 of 2.*Needs your word/ }).waitFor();
    expect(await visit.problems('lost-volumes')).toEqual([]);
    const { pathname } = new URL(`${stack.clusterUrl}/recoveries`);
    expect((await listsToCopy(page)).map(({ path: copied }) => copied)).toContain(pathname);

    const dialog = page.getByRole('dialog');
    const orphans = page.getByRole('region', { name: 'Orphans', exact: true });
    await orphans.getByRole('button', { name: 'Remove' }).first().click();
    await dialog.getByText('The lost volume orders may be recovered from it').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await lost.getByRole('button', { name: 'Recover orders' }).click();
    await dialog.getByLabel('Name').fill('orders-back');
    expect(await visit.problems('recover-dialog')).toEqual([]);
    const recover = dialog.getByRole('button', { name: 'Recover', exact: true });
    // Not agreed to, the form is not sent.
    await recover.click();
    await dialog.getByLabel(/^The control plane of cluster .* is lost for good/).check();
    await recover.click();
    await page
      .getByLabel(/^Notifications/)
      .getByRole('status')
      .filter({ hasText: 'orders-back is recovered.' })
      .waitFor();
    await lost.waitFor({ state: 'detached' });

    await stack.cliJson('volume', 'attach', 'orders-back');
    expect((await readVolume(stack, 'orders-back', MIB)).equals(DATA)).toBe(true);
    expect(visit.errors).toEqual([]);
  });

  test('that was deleted while a node was away is no alarm, and comes back of the one copy that is left, salvaged', async () => {
    const { stack } = visit;
    await stack.cliJson('volume', 'create', 'regretted', '--size', '16Mi', '--replicas', '3');
    await stack.cliJson('volume', 'attach', 'regretted', '--node', 'node-1');
    await writeVolume(stack, 'regretted', 0, DATA);
    await stack.cliJson('volume', 'detach', 'regretted');
    stack.killAgent('node-3');
    await stack.cli('volume', 'delete', 'regretted', '--yes');
    await eventually(
      'the volume is gone',
      () => stack.cli('volume', 'get', 'regretted'),
      ({ exitCode }) => exitCode !== 0,
    );
    await stack.cli('local', 'start-agent', 'node-3');
    await eventually(
      'the copy that is back has said what it stores',
      () => stack.cliJson<Plan>('recover'),
      ({ items }) => items.some(({ name, obstacle }) => name === 'regretted' && obstacle?.code === 'Deleted'),
    );
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await page.getByRole('region', { name: 'Lost volumes', exact: true }).count()).toBe(0);

    const accepted = ['--accept-deleted', '--accept-missing', '--name', 'back', '--project', 'default'];
    const refused = await stack.cli('recover', 'regretted', '--accept-deleted');
    expect(refused.stderr).toContain('--accept-missing');
    expect((await stack.cli('recover', 'regretted', ...accepted)).stderr).toBe('');
    await stack.cli('volume', 'attach', 'back', '--no-wait');
    await eventually(
      'it waits for the copies that are gone',
      () => stack.cliJson<Volume>('volume', 'get', 'back'),
      ({ attention }) => attention?.code === 'CopiesMissing',
    );
    await stack.cliJson('volume', 'salvage', 'back', '--yes');
    await stack.cliJson('volume', 'attach', 'back');
    expect((await readVolume(stack, 'back', MIB)).equals(DATA)).toBe(true);
  });
});
