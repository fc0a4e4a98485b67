/**
 * From nothing to a node in a real browser: an organization without a cluster, its first cluster, and the node that joins it by the
 * command that the console shows, run as it is shown. And what a viewer is told instead.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { findBrowser } from '@holdfast/testkit/browser.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { repositoryRoot } from '@holdfast/testkit/local-stack.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OrganizationCalls } from './organization-calls.js';

const PHONE = { width: 390, height: 844 };
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

let visit: ConsoleVisit<TestCluster>;
let page: ConsoleVisit['page'];
let agent: ChildProcess | undefined;
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-first-run-'));

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  visit = await ConsoleVisit.beginShared(undefined, { agents: 0 });
  ({ page } = visit);
  const { local } = visit.stack;
  const admin = await OrganizationCalls.signIn(local, local.email, local.password);
  await admin.found('new-house');
  await visit.signIn();
});

afterAll(async () => {
  if (agent?.pid !== undefined && agent.exitCode === null) process.kill(-agent.pid, 'SIGKILL');
  await visit?.end();
  fs.rmSync(home, { recursive: true, force: true });
});

const dialog = () => page.getByRole('dialog');
const button = (name: string) => page.getByRole('button', { name, exact: true });

async function expectFine(name: string): Promise<void> {
  const problems = await visit.problemsIn('light', name);
  await page.setViewportSize(PHONE);
  problems.push(...(await visit.problemsIn('dark', `${name}-phone`)));
  const width = await page.evaluate('document.documentElement.scrollWidth');
  await page.setViewportSize({ width: 1360, height: 900 });
  expect({ problems, width }).toEqual({ problems: [], width: PHONE.width });
}

inBrowser('an organization without a cluster', () => {
  test('leads to its first cluster, and this to its first node', async () => {
    await page.getByLabel('Organization').first().selectOption({ label: 'new-house' });
    await page.getByText('This organization has no cluster yet').waitFor();
    await expectFine('no-cluster');
    await button('New cluster…').click();
    await dialog().getByLabel('Name').fill('barn');
    await dialog().getByRole('button', { name: 'Create cluster' }).click();
    await page.getByText('No nodes yet').waitFor();
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await page.getByText('This cluster has no node yet').waitFor();
    await expectFine('first-steps');
  });

  test('lets a node join by the command that it shows, and shows the node once it has come', async () => {
    await button('Add node…').click();
    await dialog().getByLabel('How its agent runs').selectOption('shell');
    await dialog().getByLabel('Name').fill('Node 1');
    await dialog().getByLabel('Address of the node').fill('127.0.0.1');
    await dialog().getByRole('button', { name: 'Show the command' }).click();
    await dialog().getByText('Lower case letters, digits, dots and hyphens.').waitFor();
    await expectFine('add-node');
    await dialog().getByLabel('Name').fill('barn-1');
    await dialog().getByLabel('Zone').fill('east');
    await dialog().getByLabel('Size of a disk').fill('1Gi');
    await dialog().getByLabel('Folders of its disks').fill(path.join(home, 'disk'));
    await dialog().getByText('State folder and ports').click();
    const [controlPort, nbdPort] = await freePorts();
    await dialog().getByLabel('State folder').fill(path.join(home, 'state'));
    await dialog().getByLabel('Control port').fill(String(controlPort));
    await dialog().getByLabel('NBD port').fill(String(nbdPort));
    await dialog().getByRole('button', { name: 'Show the command' }).click();
    await dialog().getByText('Waiting for barn-1 to join.', { exact: false }).waitFor();
    await dialog().getByText('The token ends in', { exact: false }).waitFor();
    await expectFine('joining');
    // Its port is none that a guess would have.
    await dialog().getByText(`HOLDFAST_API_URL=${visit.stack.local.apiUrl}`, { exact: false }).waitFor();
    expect(await dialog().getByText('is a guess').count()).toBe(0);

    agent = start((await dialog().locator('pre').textContent()) ?? '');
    await dialog().getByText('barn-1 has joined.').waitFor();
    await dialog().getByRole('link', { name: 'Open barn-1' }).click();
    await page.getByRole('heading', { name: 'barn-1', level: 1 }).waitFor();
    await page.getByText('east', { exact: true }).first().waitFor();
  });

  test('makes no token for a name that a node has', async () => {
    await page.getByRole('link', { name: 'Nodes and disks' }).first().click();
    await button('Add node…').click();
    await dialog().getByLabel('How its agent runs').selectOption('compose');
    await dialog().getByLabel('Name').fill('barn-1');
    await dialog().getByRole('button', { name: 'Show the command' }).click();
    await dialog().getByText('A node of this name exists.', { exact: false }).waitFor();
    await dialog().getByLabel('Name').fill('barn-2');
    await dialog().getByRole('button', { name: 'Show the command' }).click();
    await dialog().getByText('agent-barn-2', { exact: false }).first().waitFor();
    await dialog().getByRole('button', { name: 'Close without waiting' }).click();
    expect(visit.errors).toEqual([]);
  });

  test('goes on to a second cluster, and back by the switch', async () => {
    await button('New cluster…').first().click();
    await dialog().getByLabel('Name').fill('barn');
    await dialog().getByRole('button', { name: 'Create cluster' }).click();
    await dialog().locator('[aria-invalid="true"], [role=alert]').first().waitFor();
    await dialog().getByLabel('Name').fill('shed');
    await dialog().getByRole('button', { name: 'Create cluster' }).click();
    await page.getByText('No nodes yet').waitFor();
    await page.getByLabel('Cluster', { exact: true }).first().selectOption({ label: 'barn' });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('barn-1').first().waitFor();
    expect(visit.errors).toEqual([]);
  });
});

/** As a user's shell does, in the folder that Holdfast was built in. */
function start(command: string): ChildProcess {
  return spawn('bash', ['-c', command], { cwd: repositoryRoot, detached: true, stdio: 'ignore' });
}

async function freePorts(): Promise<[number, number]> {
  const servers = [net.createServer(), net.createServer()];
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.listen(0, '127.0.0.1', () => {
            const address = server.address();
            resolve(typeof address === 'object' && address !== null ? address.port : 0);
          });
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return [ports[0] ?? 0, ports[1] ?? 0];
}
