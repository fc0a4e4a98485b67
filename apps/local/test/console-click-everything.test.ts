/**
 * Every page's buttons that open something, and every link, pressed once in a real browser on a real stack: no page may throw, write
 * an error to the browser's console, or get a failure from the server.
 */
import { findBrowser } from '@holdfast/testkit/browser.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const STORY_TIMEOUT_MS = 240_000;
const executable = findBrowser();
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = executable === undefined ? describe.skip : describe;

const PAGES = [
  '/',
  '/volumes',
  '/nodes',
  '/rebuilds',
  '/alerts',
  '/events',
  '/what-if',
  '/settings',
  '/audit',
];
/** They act at once, or end the visit. */
const ACTS =
  /^(Sign out|Detach|Attach|Verify|Verify the chain|Create snapshot|Hash|Purge|Cordon|Uncordon|Try again|Switch between.*)$/;
const PRESSED_MAX = 25;

let visit: ConsoleVisit;
let page: ConsoleVisit['page'];
/** What went wrong, with the address that it went wrong at. */
const troubles: string[] = [];

beforeAll(async () => {
  if (executable === undefined) return;
  visit = await ConsoleVisit.begin(executable, async (local) => {
    await local.cliJson('volume', 'create', 'pg-data', '--size', '64Mi', '--replicas', '3');
    await local.cliJson('volume', 'attach', 'pg-data', '--node', 'node-1');
    await local.cliJson('snapshot', 'create', 'pg-data', 'before');
  });
  page = visit.page;
  await visit.signIn();
  page.on('console', (message) => {
    if (message.type() === 'error') troubles.push(`${page.url()}: ${message.text()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 500) troubles.push(`${page.url()}: ${response.status()} of ${response.url()}`);
  });
}, STORY_TIMEOUT_MS);

afterAll(() => visit?.end(), STORY_TIMEOUT_MS);

const at = (path: string) => new URL(path, visit.stack.local.consoleUrl).href;

inBrowser('every page', () => {
  test.each(PAGES)(
    '%s opens all that it has',
    async (path) => {
      await pressAll(path);
      expect(troubles).toEqual([]);
    },
    STORY_TIMEOUT_MS,
  );

  test(
    "a volume's page opens all that it has",
    async () => {
      await visit.openVolume('pg-data');
      expect(await pressAll(new URL(page.url()).pathname)).toBeGreaterThan(3);
      expect(troubles).toEqual([]);
    },
    STORY_TIMEOUT_MS,
  );

  test(
    'every link of every page leads somewhere',
    async () => {
      const targets = new Set<string>();
      for (const path of PAGES) {
        await page.goto(at(path));
        await page.getByRole('heading', { level: 1 }).waitFor();
        for (const link of await page.getByRole('link').all()) {
          const href = await link.getAttribute('href');
          // What the API gives is a file to keep, and no page.
          if (href?.startsWith('/') === true && !href.startsWith('/api/')) targets.add(href);
        }
      }
      expect(targets.size).toBeGreaterThanOrEqual(PAGES.length);
      for (const target of targets) {
        const answer = await page.goto(at(target));
        if (answer?.status() !== 200) troubles.push(`${target} is answered ${answer?.status()}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
      }
      expect(troubles).toEqual([]);
      expect(visit.errors).toEqual([]);
    },
    STORY_TIMEOUT_MS,
  );
});

/** Names of the buttons of a page that open something. */
async function buttonsOf(): Promise<string[]> {
  const names: string[] = [];
  for (const button of await page.locator('main button').all()) {
    const label = (await button.getAttribute('aria-label')) ?? (await button.textContent()) ?? '';
    const isBlocked = (await button.getAttribute('aria-disabled')) === 'true';
    if (!isBlocked && label.trim() !== '' && !ACTS.test(label.trim())) names.push(label.trim());
  }
  return [...new Set(names)].slice(0, PRESSED_MAX);
}

async function pressAll(path: string): Promise<number> {
  await page.goto(at(path));
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
  let pressed = 0;
  for (const name of await buttonsOf()) {
    const button = page.locator('main').getByRole('button', { name, exact: true }).first();
    if ((await button.count()) === 0) continue;
    await button
      .click({ timeout: 5_000 })
      .catch((error: unknown) => troubles.push(`${path}, ${name}: ${error}`));
    pressed += 1;
    if ((await page.getByRole('dialog').count()) > 0) await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  return pressed;
}
