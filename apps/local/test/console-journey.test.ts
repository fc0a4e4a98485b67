/** The journey of a user through the console: sign in, make a volume, attach it, watch a node die, and its copy being rebuilt. */
import { once } from 'node:events';
import http from 'node:http';
import { MIB } from '@holdfast/core/model/bytes.js';
import { findBrowser } from '@holdfast/testkit/browser.js';
import { changeSetting } from '@holdfast/testkit/cluster-volumes.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { connectNbd, pattern } from '@holdfast/testkit/nbd-workload.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const CLUSTER_LIMIT = 'concurrent-rebuild-per-cluster-limit';
const BANDWIDTH = 'replica-rebuilding-bandwidth-limit';
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

let visit: ConsoleVisit<TestCluster>;
let cluster: TestCluster;
let page: ConsoleVisit['page'];
let client: Awaited<ReturnType<typeof connectNbd>> | undefined;

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  visit = await ConsoleVisit.beginShared();
  ({ stack: cluster, page } = visit);
});

afterAll(async () => {
  client?.close();
  await visit?.end();
});

test('the console refuses a method that it does not know', async () => {
  const asked = http.request(cluster.local.consoleUrl, { method: 'TRACE' }).end();
  const [answer] = await once(asked, 'response');
  answer.resume();
  expect(answer.statusCode).toBe(405);
});

inBrowser('the console', () => {
  test('asks the user to sign in, refuses a wrong password, and takes the right one', async () => {
    await page.goto(cluster.local.consoleUrl);
    await page.getByRole('heading', { name: 'Sign in to Holdfast' }).waitFor();
    await page.getByLabel('Email').fill(cluster.local.email);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('form [role="alert"]').waitFor();
    await page.getByLabel('Password').fill(cluster.local.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('No volumes yet').waitFor();
    await page.getByText('node-3').first().waitFor();
  });

  test('creates a volume, refusing what is wrong beside the field', async () => {
    const dialog = page.getByRole('dialog');
    await page.getByRole('link', { name: 'Volumes' }).first().click();
    await page.getByRole('heading', { name: 'Volumes', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Create volume' }).first().click();
    await dialog.getByLabel('Name').fill('Bad Name!');
    await dialog.getByRole('button', { name: 'Create volume' }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    await dialog.getByLabel('Name').fill('web-data');
    await dialog.getByRole('button', { name: 'Create volume' }).click();
    await page.getByRole('heading', { name: 'web-data' }).waitFor();
    for (const zone of ['zone-a', 'zone-b', 'zone-c'])
      await page.getByRole('region', { name: `Zone ${zone}` }).waitFor();
  });

  test('attaches it, and shows an address that takes writes and what was written', async () => {
    await page.getByRole('button', { name: 'Attach' }).click();
    await page.getByRole('dialog').getByLabel('Node').selectOption({ label: 'node-1, holds a copy' });
    await page.getByRole('dialog').getByRole('button', { name: 'Attach' }).click();
    const address = page.getByText(/^nbd:\/\/127\.0\.0\.1/).first();
    await address.waitFor();
    await page.getByText('Healthy').first().waitFor();
    client = await connectNbd((await address.textContent()) ?? '');
    // What is written is followed while the writer goes on.
    await write(0, 32);
    await page.getByText('1 GiB, 32 MiB written').waitFor();
    await write(32, 48);
    await page.getByText('1 GiB, 48 MiB written').waitFor();
  });

  test('says that a node died, and what is at risk meanwhile', async () => {
    cluster.killAgent('node-2');
    await page.getByText('Degraded').first().waitFor();
    await page.getByText('Failed').first().waitFor();
    const rebuilds = page.getByRole('region', { name: 'Rebuilds', exact: true });
    await rebuilds.getByText(/^The copy on node-2 may come back: no new one is built until /).waitFor();
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await page.getByText('1 of 1 volume').waitFor();
    await page.getByRole('list', { name: 'Not in the queue yet' }).getByText('web-data').waitFor();
  });

  test('shows what holds the rebuild up once the node is back, and the rebuild to its end', async () => {
    // What the copy misses while it is down has to be sent, and slowly enough to be seen.
    await write(0, 48);
    await changeSetting(cluster, BANDWIDTH, 8);
    await changeSetting(cluster, CLUSTER_LIMIT, 0);
    const started = cluster.cli('local', 'start-agent', 'node-2');
    await page.getByText(`No rebuild may start: ${CLUSTER_LIMIT} is 0.`).waitFor();
    const safe = page.getByRole('region', { name: 'When will it be safe?', exact: true });
    await safe.getByText('Not while rebuilds are paused').waitFor();
    expect(await safe.getByText('Now', { exact: true }).count()).toBe(0);
    expect((await started).exitCode).toBe(0);
    await changeSetting(cluster, CLUSTER_LIMIT);
    await page.getByRole('progressbar').first().waitFor();
    await changeSetting(cluster, BANDWIDTH, 0);
    await page.getByText('every copy it should').waitFor();
    await safe.getByText('Now', { exact: true }).waitFor();
    expect(visit.errors).toEqual([]);
  });
});

/** Writes from one MiB of the volume to another, and flushes. */
async function write(fromMib: number, toMib: number): Promise<void> {
  if (client === undefined) throw new Error('the volume has no client yet');
  for (let offset = fromMib * MIB; offset < toMib * MIB; offset += MIB)
    await client.write(offset, [pattern(offset + 1, MIB)], MIB, { fua: false });
  await client.flush();
}
