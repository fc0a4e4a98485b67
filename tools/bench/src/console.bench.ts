// The console with 10,000 volumes, 1,000 nodes and 50 rebuilds that report: a real browser, a real console and API over a real
// Postgres. Beside each figure stands what a bare page of the same server with the same data costs in the same run and browser.

import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '@holdfast/data-engine/bench/median.js';
import { findBrowser, openBrowser } from '@holdfast/testkit/browser.js';
import { BARE_PATH, bareListScript } from './console/bare-list.js';
import { type LargeCluster, reportRebuilds, startLargeCluster } from './console/large-cluster.js';
import { measureLostNode } from './console/lost-node.js';
import { WatchedPage } from './console/watched-page.js';
import { percentile, report } from './report.js';
import type { RunOptions } from './run-options.js';

const FULL = { nodes: 1_000, disksPerNode: 2, zones: 5, volumes: 10_000 };
const QUICK = { nodes: 40, disksPerNode: 2, zones: 4, volumes: 1_000 };
const REBUILDS = 50;
const LOADS = 5;
const KIB = 1_000;
const MIB = 2 ** 20;
const SCROLL_MS = 5_000;
/** Time in which everything that an event leads to has ended. */
const SETTLE_MS = 4_000;
/** Rows that the console asks for at first; and as many as are passed in a scroll. */
const FIRST_ROWS = 100;
const SCROLLED_ROWS = 1_000;

type Measured = { readonly cluster: LargeCluster; readonly watched: WatchedPage; readonly quick: boolean };
type Target = { readonly unit: string; readonly target?: number; readonly baseline?: number };

export async function run({ quick }: RunOptions): Promise<void> {
  const executable = findBrowser();
  if (executable === undefined) throw new Error('this benchmark needs a Chromium on the machine');
  const cluster = await startLargeCluster(quick ? QUICK : FULL);
  const browser = await openBrowser(executable);
  try {
    const watched = await WatchedPage.open(browser);
    const measured = { cluster, watched, quick };
    await signIn(measured);
    await measureLoad(measured);
    await measureScroll(measured);
    await measureNewVolume(measured);
    await measureIdle(measured);
    await measureInteractions(measured);
    await measureMemory(measured);
  } finally {
    await browser.close();
    await cluster.stop();
  }
  await tellLostNode(executable, quick);
}

const LOSSES = [
  { loss: 'kill', words: 'its kill' },
  { loss: 'stop', words: 'its silence' },
] as const;

/** On a stack of its own, after the others: each figure has the machine for itself. */
async function tellLostNode(executable: string, quick: boolean): Promise<void> {
  for (const { loss, words } of LOSSES) {
    const { volumes, noticedMs, shownMs } = await measureLostNode(executable, loss, quick);
    const name = `a node lost with ${volumes.toLocaleString('en')} volumes`;
    tell(name, `from ${words} until it is missed`, noticedMs, { unit: 'ms' });
    tell(name, `from ${words} until shown, effects counted`, noticedMs + shownMs, {
      unit: 'ms',
      target: 5_000,
    });
  }
}

function tell(name: string, metric: string, value: number, target: Target): void {
  report({ bench: 'console', case: name, metric, value, better: 'lower', ...target });
}

/** What the bare page costs; left out where that is nothing that can be measured, since nothing is a multiple of it. */
const beside = (baseline: number): Pick<Target, 'baseline'> => (baseline > 0 ? { baseline } : {});

async function signIn({ cluster, watched: { page } }: Measured): Promise<void> {
  await page.goto(cluster.consoleUrl);
  await page.getByLabel('Email').fill(cluster.seed.email);
  await page.getByLabel('Password').fill(cluster.seed.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

const firstRow = ({ watched }: Measured) => watched.page.locator('tbody tr[data-row]').first();

async function openVolumes(measured: Measured): Promise<void> {
  await measured.watched.page.goto(`${measured.cluster.consoleUrl}/volumes`);
  await firstRow(measured).waitFor();
}

async function openBareList({ cluster, watched }: Measured, rows = FIRST_ROWS, isLive = true): Promise<void> {
  await watched.page.goto(`${cluster.consoleUrl}${BARE_PATH}`);
  await watched.page.evaluate(bareListScript({ clusterId: cluster.seed.clusterId, rows, isLive }));
}

async function measureLoad(measured: Measured): Promise<void> {
  const { cluster, watched } = measured;
  const bare = { paint: [] as number[], row: [] as number[], bytes: [] as number[] };
  const ours = { paint: [] as number[], row: [] as number[], script: [] as number[], bytes: [] as number[] };
  for (let load = 0; load < LOADS; load += 1) {
    await watched.forgetFiles();
    const bareCost = await watched.costOf(async () => {
      await openBareList(measured);
      bare.row.push(await watched.nowMs());
      await sleep(500);
    });
    bare.paint.push(await watched.largestPaintMs());
    bare.bytes.push(bareCost.bytes);
    await watched.forgetFiles();
    const cost = await watched.costOf(async () => {
      await openVolumes(measured);
      ours.row.push(await watched.nowMs());
      await sleep(SETTLE_MS);
    });
    ours.paint.push(await watched.largestPaintMs());
    ours.script.push(cost.scriptBytes);
    ours.bytes.push(cost.bytes);
  }
  const name = 'first load of the list';
  tell(name, 'script, compressed', median(ours.script) / KIB, { unit: 'kB', target: 300 });
  tell(name, 'received, with styles, fonts and data', median(ours.bytes) / KIB, {
    unit: 'kB',
    baseline: median(bare.bytes) / KIB,
  });
  const baseline = median(bare.paint);
  tell(name, 'largest paint', median(ours.paint), { unit: 'ms', target: 1_500, baseline });
  tell(name, 'first row', median(ours.row), { unit: 'ms', target: 1_500, baseline: median(bare.row) });
  const overview = await watched.costOf(async () => {
    await watched.page.goto(cluster.consoleUrl);
    await watched.page.getByText('Where everything is').waitFor();
    await sleep(SETTLE_MS);
  });
  tell('load of the overview', 'largest paint', await watched.largestPaintMs(), {
    unit: 'ms',
    target: 1_500,
    baseline,
  });
  tell('load of the overview', 'received', overview.bytes / KIB, {
    unit: 'kB',
    baseline: median(bare.bytes) / KIB,
  });
}

async function measureScroll(measured: Measured): Promise<void> {
  const { watched } = measured;
  const p95 = async () =>
    percentile(
      (await watched.framesMs(SCROLL_MS)).sort((a, b) => a - b),
      0.95,
    );
  await openBareList(measured, SCROLLED_ROWS, false);
  const baseline = await p95();
  await openVolumes(measured);
  await sleep(SETTLE_MS);
  tell('scroll through the list', 'frame p95', await p95(), { unit: 'ms', target: 32, baseline });
}

async function measureNewVolume(measured: Measured): Promise<void> {
  await openBareList(measured);
  const bare = await costOfNewVolumes(measured, 'bare');
  await openVolumes(measured);
  const ours = await costOfNewVolumes(measured, 'a');
  const name = 'a new volume';
  tell(name, 'received', ours.bytes / KIB, { unit: 'kB', target: 20, ...beside(bare.bytes / KIB) });
  tell(name, 'main thread', ours.ms, { unit: 'ms', target: 100, ...beside(bare.ms) });
}

/** Of one, beyond what the page costs meanwhile in any case. */
async function costOfNewVolumes({ cluster, watched, quick }: Measured, names: string) {
  await sleep(2 * SETTLE_MS);
  const rest = await watched.costOf(() => sleep(SETTLE_MS));
  const costs: { bytes: number; ms: number }[] = [];
  for (let made = 0; made < (quick ? 3 : 10); made += 1) {
    const cost = await watched.costOf(async () => {
      const name = `${names}-new-${made}`;
      await cluster.call('POST', '/volumes', { name, size: 2 ** 30, numberOfReplicas: 3 });
      await sleep(SETTLE_MS);
    });
    costs.push({ bytes: cost.bytes, ms: cost.mainThreadMs });
  }
  return {
    bytes: median(costs.map((cost) => cost.bytes)) - rest.bytes,
    ms: median(costs.map((cost) => cost.ms)) - rest.mainThreadMs,
  };
}

async function measureIdle(measured: Measured): Promise<void> {
  const { cluster, watched, quick } = measured;
  const seconds = quick ? 15 : 30;
  await openBareList(measured);
  await sleep(2 * SETTLE_MS);
  const bare = await watched.costOf(() => sleep(seconds * 1000));
  const baselines = { kib: bare.bytes / KIB / seconds, ms: bare.mainThreadMs / seconds };
  for (const path of ['/volumes', '/']) {
    await watched.page.goto(`${cluster.consoleUrl}${path}`);
    await sleep(2 * SETTLE_MS);
    const cost = await watched.costOf(() => sleep(seconds * 1000));
    const name = `idle, ${path === '/' ? 'overview' : 'list'}`;
    tell(name, 'received', cost.bytes / KIB / seconds, {
      unit: 'kB/s',
      target: 100,
      baseline: baselines.kib,
    });
    tell(name, 'main thread', cost.mainThreadMs / seconds, { unit: 'ms/s', baseline: baselines.ms });
  }
}

/** Letters into the search, clicks on a column, steps through the rows: each as one user does them, one after the other. */
async function interact(
  { page }: WatchedPage,
  rounds: number,
  search: string,
  column: string,
): Promise<number> {
  let done = 0;
  for (let round = 0; round < rounds; round += 1) {
    await page.getByLabel(search, { exact: true }).click();
    await page.keyboard.type(`volume-${round}`, { delay: 60 });
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Backspace');
    await page.getByRole('button', { name: column, exact: true }).click();
    await sleep(400);
    for (const key of ['j', 'j', 'x', 'x']) {
      await page.keyboard.press(key);
      await sleep(60);
    }
    done += 1 + `volume-${round}`.length + 2 + 1 + 4;
  }
  return done;
}

async function measureInteractions(measured: Measured): Promise<void> {
  const { cluster, watched, quick } = measured;
  const rounds = quick ? 2 : 6;
  const p75 = async (search: string, column: string) => {
    await watched.forgetInteractions();
    const done = await interact(watched, rounds, search, column);
    await sleep(500);
    const told = await watched.interactionsMs();
    // The others took less than what is told.
    const all = [...told, ...Array.from({ length: Math.max(0, done - told.length) }, () => 8)];
    return percentile(
      all.sort((a, b) => a - b),
      0.75,
    );
  };
  const stop = await reportRebuilds(cluster, REBUILDS);
  await openBareList(measured);
  await sleep(SETTLE_MS);
  const baseline = await p75('Search', 'Sort');
  const bare = await watched.costOf(() => sleep(10_000));
  await openVolumes(measured);
  await sleep(SETTLE_MS);
  const value = await p75('Search volumes', 'Name');
  tell(`interaction, ${REBUILDS} rebuilds reporting`, 'to next paint, p75', value, {
    unit: 'ms',
    target: 150,
    baseline,
  });
  for (const path of ['/rebuilds', '/']) {
    await watched.page.goto(`${cluster.consoleUrl}${path}`);
    await sleep(2 * SETTLE_MS);
    const cost = await watched.costOf(() => sleep(10_000));
    const name = `${REBUILDS} rebuilds reporting, ${path === '/' ? 'overview' : 'rebuilds'}`;
    tell(name, 'received', cost.bytes / KIB / 10, { unit: 'kB/s', baseline: bare.bytes / KIB / 10 });
    tell(name, 'main thread', cost.mainThreadMs / 10, { unit: 'ms/s', baseline: bare.mainThreadMs / 10 });
  }
  await stop();
}

/** As many changes as an hour brings at one in three seconds, as fast as they are taken. */
async function measureMemory(measured: Measured): Promise<void> {
  const { cluster, watched, quick } = measured;
  const { rows } = await cluster.pool.query<{ id: string }>('SELECT id FROM volume ORDER BY name LIMIT 50');
  const change = async (count: number, round: string) => {
    for (let at = 0; at < count; at += 1) {
      const id = rows[at % rows.length]?.id ?? '';
      await cluster.call('PATCH', `/volumes/${id}`, { labels: { round: `${round}-${at}` } });
      if (at % 10 === 0) await sleep(100);
    }
    await sleep(SETTLE_MS);
  };
  const growth = async (round: string) => {
    await change(quick ? 50 : 300, `${round}-a`);
    const before = await watched.heapBytes();
    await change(quick ? 150 : 1_200, `${round}-b`);
    return { before, growth: (await watched.heapBytes()) - before };
  };
  await openBareList(measured);
  const bare = await growth('bare');
  await openVolumes(measured);
  const ours = await growth('ours');
  const name = `memory, ${quick ? 150 : 1_200} changes`;
  tell(name, 'growth', ours.growth / MIB, { unit: 'MiB', target: 5, ...beside(bare.growth / MIB) });
  tell(name, 'heap before', ours.before / MIB, { unit: 'MiB', baseline: bare.before / MIB });
}
