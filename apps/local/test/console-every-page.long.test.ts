/**
 * Every page that the console has, in a real browser on a real stack: its buttons that open something and its links are pressed
 * once, each list that it asks the API for can be copied in other forms, it keeps WCAG 2.2 AA in both themes and at both widths, and
 * it is no wider than a phone. No page may throw, write an error to the browser's console, or get a failure from the server.
 */
import { findBrowser } from '@holdfast/testkit/browser.js';
import { createVolume } from '@holdfast/testkit/cluster-volumes.js';
import {
  type AskedList,
  consoleRoutes,
  listsAskedBy,
  listsToCopy,
  troublesOf,
} from '@holdfast/testkit/console-pages.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

const DESK = { width: 1360, height: 900 };
const PHONE = { width: 390, height: 844 };
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

const ROUTES = consoleRoutes();
/** They act at once, or end the visit. */
const ACTS =
  /^(Sign out|Attach|Verify|Verify the chain|Create snapshot|Hash|Purge|Cordon|Uncordon|Try again|Switch between.*)$/;
const PRESSED_MAX = 25;

let visit: ConsoleVisit<TestCluster>;
let page: ConsoleVisit['page'];
/** What the folders with brackets stand for. */
const ids: Record<string, string> = {};
/** What went wrong, with the address that it went wrong at. */
let troubles: string[] = [];
let asked: AskedList[] = [];
/** Pages that others have links to, beside those that are opened anyway. */
const linked = new Set<string>();

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  visit = await ConsoleVisit.beginShared(makeOneOfEach);
  page = visit.page;
  await visit.signIn();
  troubles = troublesOf(page);
  asked = listsAskedBy(page);
});

afterAll(() => visit?.end());

const at = (address: string) => new URL(address, visit.stack.local.consoleUrl).href;

inBrowser('every page', () => {
  test('is known by its folder', () => {
    expect(ROUTES).toContain('/');
    expect(ROUTES).toContain('/nodes/[nodeId]/disks/[diskId]');
    expect(Object.values(ids)).not.toContain('');
  });

  beforeEach(() => {
    troubles.length = 0;
  });

  test.each(ROUTES)('%s opens all that it has, in both themes, on a desk and on a phone', async (route) => {
    await leavePage();
    asked.length = 0;
    await open(addressOf(route));
    for (const target of await linkedPages()) linked.add(target);
    await allAskedCanBeCopied(route);
    const name = `every-page${route.replaceAll('/', '-')}`;
    // Both themes and both widths in two looks: what one theme has of its own, colours, is the same at both widths.
    const problems = await visit.problemsIn('light', `${name}-desk`);
    await page.setViewportSize(PHONE);
    problems.push(...(await visit.problemsIn('dark', `${name}-phone`)));
    const width = await page.evaluate('document.documentElement.scrollWidth');
    await page.setViewportSize(DESK);
    expect({ problems, width }).toEqual({ problems: [], width: PHONE.width });
    await pressAll();
    expect(troubles).toEqual([]);
  });

  test('has links that lead somewhere', async () => {
    expect(linked.size).toBeGreaterThan(5);
    for (const target of linked) {
      const answer = await page.goto(at(target));
      if (answer?.status() !== 200) troubles.push(`${target} is answered ${answer?.status()}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
    }
    expect(troubles).toEqual([]);
    expect(visit.errors).toEqual([]);
  });
});

/**
 * Lists that no page stands for: those that a frame or a form chooses from, names and disks of what another list has, what decides
 * whether an action is free, and lost volumes, whose panel is not there as long as nothing is lost (the story of recovery has it).
 */
const ASKED_BESIDE = [
  /\/clusters\?$/,
  /\?id in \(/,
  /\/disks\?nodeId in \(/,
  /\/zones\?$/,
  /\/volumes\?robustness in /,
  /\/volumes\?sourceVolumeId=/,
  /\/orphans\?diskId=/,
  /\/recoveries\?$/,
];
/** Pages that sum up what others list, or choose from it: what they are about is copied from their head. */
const SUMS_UP = new Set(['/', '/capacity', '/topology', '/what-if']);
/** One panel for each project; names of the owners of tokens, and of what the audit log is about; makers of silences. */
const BESIDE_ON: Readonly<Record<string, RegExp>> = {
  '/organization/quotas': /\/projects\?$/,
  '/organization/tokens': /\/members\?$/,
  '/alerts': /\/members\?$/,
  '/audit': /\/(members|projects)\?$/,
};

const textOf = ({ path, filter }: AskedList) => `${path}?${filter}`;

/** A menu may come with the answer that its panel waits for. */
async function allAskedCanBeCopied(route: string): Promise<void> {
  await eventually(
    'each list that the page asks the API for is in a menu, to be copied in other forms',
    async () => notAmong(await listsToCopy(page), route),
    (notCopied) => notCopied.length === 0,
  );
}

function notAmong(copied: readonly AskedList[], route: string): string[] {
  return asked.filter((list) => !isBeside(route, list) && !copied.some(holds(list))).map(textOf);
}

function isBeside(route: string, list: AskedList): boolean {
  const beside = [...ASKED_BESIDE, ...(BESIDE_ON[route] === undefined ? [] : [BESIDE_ON[route]])];
  return SUMS_UP.has(route) || beside.some((pattern) => pattern.test(textOf(list)));
}

/** A copy may hold more: a panel that shows a list in two parts has one copy of both. */
const holds = (list: AskedList) => (copied: AskedList) =>
  textOf(copied) === textOf(list) ||
  (copied.filter !== '' && textOf(list).startsWith(`${textOf(copied)} AND `));

function addressOf(route: string): string {
  return route.replace(/\[(\w+)\]/g, (_, name: string) => ids[name] ?? name);
}

/** What the pages of one thing are about. */
async function makeOneOfEach(cluster: TestCluster): Promise<void> {
  ids.volumeId = await createVolume(cluster, 'pg-data', { attachTo: 'node-1' });
  await cluster.call('POST', `/volumes/${ids.volumeId}/snapshots`, { name: 'before' });
  const receiver = ['https://hooks.example.com/x', '--filter', 'type=None'];
  ids.webhookId = (await cluster.cliJson<{ id: string }>('webhook', 'create', 'pager', ...receiver)).id;
  const { body } = await cluster.call<{ items: { id: string; nodeId: string }[] }>('GET', '/disks');
  ids.diskId = body.items[0]?.id ?? '';
  ids.nodeId = body.items[0]?.nodeId ?? '';
  ids.projectId = cluster.local.projectId;
}

async function linkedPages(): Promise<string[]> {
  const links = await page.getByRole('link').all();
  const addresses = await Promise.all(links.map((link) => link.getAttribute('href')));
  const opened = ROUTES.map(addressOf);
  return addresses.filter(isPage).filter((address) => !opened.includes(address));
}

/** What the API gives is a file to keep, and no page. */
function isPage(address: string | null): address is string {
  return address?.startsWith('/') === true && !address.startsWith('/api/');
}

/** Ends what the page before asks of its own: until the next one has come, it may go on to refresh its lists. */
const leavePage = () => page.goto('about:blank');

/** Shows a page, with all that it loads at first. */
async function open(address: string): Promise<void> {
  await page.goto(at(address));
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
}

/** Names of the buttons of a page that open something. */
async function buttonsOf(): Promise<string[]> {
  const names: string[] = [];
  for (const button of await page.locator('main button[type=button]').all()) {
    const label = (await button.getAttribute('aria-label')) ?? (await button.textContent()) ?? '';
    const isBlocked = (await button.getAttribute('aria-disabled')) === 'true';
    if (!isBlocked && label.trim() !== '' && !ACTS.test(label.trim())) names.push(label.trim());
  }
  return [...new Set(names)].slice(0, PRESSED_MAX);
}

async function pressAll(): Promise<void> {
  for (const name of await buttonsOf()) {
    const button = page.locator('main').getByRole('button', { name, exact: true }).first();
    if ((await button.count()) === 0) continue;
    await button
      .click({ timeout: 5_000 })
      .catch((error: unknown) => troubles.push(`${page.url()}, ${name}: ${error}`));
    if ((await page.getByRole('dialog').count()) > 0) await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
}
