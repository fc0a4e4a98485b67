// `npm run pictures`: writes docs/images, pictures of the console's pages in both themes, on a desk and on a phone. They are made on
// a local stack with volumes of its own, which is deleted afterwards. Chromium has to be on the machine.

import fs from 'node:fs';
import path from 'node:path';
import { build, install, repositoryRoot, requireSupportedPlatform } from './bootstrap.mjs';

const directory = path.join(repositoryRoot, 'docs', 'images');
/** All of them together: a clone should not grow by more for pictures. */
const BYTES_MAX = 6 * 1024 * 1024;
const THEMES = ['light', 'dark'];
const SCREENS = [
  { name: 'desk', width: 1440, height: 900 },
  { name: 'phone', width: 390, height: 844 },
];
/** What comes live, after what a page says it is loading. */
const SETTLE_MS = 1_500;
/** To the volumes below. */
const PROMISED_BYTES = 79 * 1024 ** 3;
/** As much as one write of NBD takes. */
const CHUNK_BYTES = 32 * 1024 * 1024;
const DOWN_MS_MAX = 60_000;

requireSupportedPlatform();
install();
build();

const { findBrowser } = await import('@holdfast/testkit/browser.js');
const { writeCapacityHistory } = await import('@holdfast/testkit/capacity-history.js');
const { ConsoleVisit } = await import('@holdfast/testkit/console-visit.js');
const { startTestDatabase } = await import('@holdfast/testkit/test-database.js');
const { pattern } = await import('@holdfast/testkit/nbd-workload.js');
const { smallerPng } = await import('@holdfast/testkit/smaller-png.js');

const { writeVolume } = await import('@holdfast/testkit/volume-bytes.js');

const executable = findBrowser();
if (executable === undefined) {
  console.error('holdfast: there is no Chromium on this machine');
  process.exit(2);
}

const database = await startTestDatabase();
const visit = await ConsoleVisit.begin(executable, prepare, { env: { DATABASE_URL: database.ownerUrl } });
try {
  await visit.signIn();
  const { page, stack } = visit;
  fs.rmSync(directory, { recursive: true, force: true });
  fs.mkdirSync(directory, { recursive: true });
  const ids = await findIds(stack);
  for (const one of quietPages(ids)) await takeAll(page, stack, one);
  stack.killAgent('node-2');
  await page.goto(stack.local.consoleUrl);
  await page.getByText('node-2 does not answer').first().waitFor({ timeout: DOWN_MS_MAX });
  for (const one of troubledPages(ids)) await takeAll(page, stack, one);
} finally {
  await visit.end();
  await database.stop();
}

const files = fs.readdirSync(directory);
const bytes = files.reduce((sum, file) => sum + fs.statSync(path.join(directory, file)).size, 0);
console.log(`holdfast: ${files.length} pictures, ${(bytes / 1024 / 1024).toFixed(1)} MiB, in docs/images`);
if (bytes > BYTES_MAX) {
  console.error(`holdfast: that is more than ${BYTES_MAX / 1024 / 1024} MiB`);
  process.exit(1);
}
process.exit(0);

async function prepare(stack) {
  const { clusterId } = stack.local;
  await writeCapacityHistory({
    ownerUrl: database.ownerUrl,
    clusterId,
    days: 40,
    promisedBytes: PROMISED_BYTES,
  });
  for (const [name, size, team] of [
    ['pg-main', '4Gi', 'payments'],
    ['pg-archive', '8Gi', 'payments'],
    ['web-data', '2Gi', 'shop'],
    ['mail', '2Gi', 'office'],
    ['metrics', '3Gi', 'platform'],
    ['registry', '6Gi', 'platform'],
  ]) {
    await stack.cliJson(
      'volume',
      'create',
      name,
      '--size',
      size,
      '--replicas',
      '3',
      '--label',
      `team=${team}`,
    );
  }
  await stack.cliJson('volume', 'create', 'scratch', '--size', '1Gi', '--replicas', '1');
  await stack.cliJson('volume', 'create', 'wide', '--size', '1Gi', '--replicas', '4');
  for (const [name, node] of [
    ['pg-main', 'node-1'],
    ['web-data', 'node-3'],
    ['mail', 'node-1'],
  ]) {
    await stack.cliJson('volume', 'attach', name, '--node', node);
  }
  for (const [name, chunks] of [
    ['pg-main', 10],
    ['web-data', 4],
    ['mail', 6],
  ]) {
    for (let chunk = 0; chunk < chunks; chunk += 1)
      await writeVolume(stack, name, chunk * CHUNK_BYTES, pattern(chunk, CHUNK_BYTES));
  }
  await stack.cliJson('snapshot', 'create', 'pg-main', 'before-upgrade');
  await writeVolume(stack, 'pg-main', 0, pattern(99, CHUNK_BYTES));
}

async function findIds(stack) {
  const listOf = async (noun) => (await stack.cliJson(noun, 'list')).items;
  const [nodes, disks, volumes] = [await listOf('node'), await listOf('disk'), await listOf('volume')];
  const node = nodes.find(({ name }) => name === 'node-1');
  return {
    node: node.id,
    disk: disks.find(({ nodeId }) => nodeId === node.id).id,
    volume: (name) => volumes.find((volume) => volume.name === name).id,
  };
}

function quietPages(ids) {
  return [
    { name: 'volumes', address: '/volumes' },
    { name: 'volume', address: `/volumes/${ids.volume('pg-main')}` },
    { name: 'cures', address: `/volumes/${ids.volume('wide')}`, region: 'Why there' },
    { name: 'create', address: '/volumes', button: 'Create volume' },
    { name: 'nodes', address: '/nodes' },
    { name: 'node', address: `/nodes/${ids.node}` },
    { name: 'disk', address: `/nodes/${ids.node}/disks/${ids.disk}` },
    { name: 'topology', address: '/topology?lose=zone:zone-b' },
    { name: 'capacity', address: '/capacity?sizeGib=4&replicas=3' },
    {
      name: 'capacity-history',
      address: '/capacity',
      region: 'When will it be full?',
      button: '30 days',
    },
    { name: 'what-if', address: '/what-if?count=2&sizeGib=4&replicas=3&node=node-2' },
    { name: 'settings', address: '/settings' },
    { name: 'tokens', address: '/organization/tokens' },
    { name: 'permissions', address: '/organization/permissions' },
  ];
}

/** Once a node is gone. */
function troubledPages() {
  return [
    { name: 'overview', address: '/' },
    { name: 'events', address: '/events' },
  ];
}

async function takeAll(page, stack, { name, address, button, region }) {
  const [desk] = SCREENS;
  await page.setViewportSize({ width: desk.width, height: desk.height });
  await page.goto(new URL(address, stack.local.consoleUrl).href);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  if (button !== undefined) await page.getByRole('button', { name: button }).first().click();
  await page.waitForFunction(() => document.querySelector('[role=status][aria-label=Loading]') === null);
  await page.waitForTimeout(SETTLE_MS);
  for (const screen of SCREENS) {
    await page.setViewportSize({ width: screen.width, height: screen.height });
    if (region !== undefined) await page.getByRole('region', { name: region }).scrollIntoViewIfNeeded();
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      await page.locator(`html[data-theme="${theme}"]`).waitFor();
      const picture = smallerPng(await page.screenshot());
      fs.writeFileSync(path.join(directory, `${name}-${screen.name}-${theme}.png`), picture);
    }
  }
  console.log(`holdfast: ${name}`);
}
