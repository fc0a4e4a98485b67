/** The page of failure domains in a real browser: the picture, and what the loss of each domain does. */
import { findBrowser } from '@holdfast/testkit/browser.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const STORY_TIMEOUT_MS = 240_000;
const PHONE = { width: 390, height: 844 };
const executable = findBrowser();
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = executable === undefined ? describe.skip : describe;

let visit: ConsoleVisit;
let page: ConsoleVisit['page'];

beforeAll(async () => {
  if (executable === undefined) return;
  visit = await ConsoleVisit.begin(executable, async (local) => {
    await local.cliJson('volume', 'create', 'one-copy', '--size', '64Mi', '--replicas', '1');
    await local.cliJson('volume', 'create', 'web-data', '--size', '64Mi', '--replicas', '3');
  });
  ({ page } = visit);
  await visit.signIn();
}, STORY_TIMEOUT_MS);

afterAll(() => visit?.end(), STORY_TIMEOUT_MS);

const lose = (what: string) => page.getByRole('button', { name: `Lose ${what}`, exact: true });
const answer = (what: string) => page.getByRole('region', { name: `If ${what} is lost`, exact: true });

inBrowser('the topology', () => {
  test(
    'draws zones, nodes, disks and copies, and says what the loss of each would do',
    async () => {
      await page.getByRole('link', { name: 'Topology' }).first().click();
      await page.getByText('Choose a domain').waitFor();
      await page.getByRole('link', { name: /^one-copy: Healthy/ }).waitFor();
      expect(await visit.problems('topology')).toEqual([]);
      const holder = page
        .getByRole('region', { name: /^Node / })
        .filter({ has: page.getByRole('link', { name: /^one-copy/ }) });
      const name = String(await holder.getAttribute('aria-label')).replace('Node ', '');
      await lose(`node ${name}`).click();
      const lost = answer(`node ${name}`).getByRole('listitem').filter({ hasText: 'one-copy' });
      await lost.getByText('Lost', { exact: true }).waitFor();
      expect(await visit.problems('topology-loss')).toEqual([]);
      await lose(`disk disk-1 of ${name}`).click();
      await answer(`disk ${name}/disk-1`).getByText('degraded meanwhile').waitFor();
      await answer(`disk ${name}/disk-1`).getByRole('link', { name: 'Ask more about it' }).click();
      await page.getByRole('checkbox', { name: `${name}/disk-1` }).waitFor();
      expect(await page.getByRole('checkbox', { name: `${name}/disk-1` }).isChecked()).toBe(true);
    },
    STORY_TIMEOUT_MS,
  );

  test(
    'keeps the choice in the address, and reaches every page from a phone',
    async () => {
      await page.setViewportSize(PHONE);
      await page.goto(new URL('/topology?lose=zone:zone-b', visit.stack.local.consoleUrl).href);
      await answer('zone zone-b').getByText('lost', { exact: true }).waitFor();
      expect(await visit.problems('topology-phone')).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
      await lose('zone zone-b').click();
      await page.getByText('Choose a domain').waitFor();
      await page.getByRole('button', { name: 'Menu', exact: true }).click();
      expect(await visit.problems('menu-phone')).toEqual([]);
      await page.keyboard.press('Escape');
      expect(await page.getByRole('link', { name: 'Audit' }).count()).toBe(0);
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Audit' }).click();
      await page.getByRole('heading', { name: 'Audit', exact: true }).waitFor();
      expect(visit.errors).toEqual([]);
    },
    STORY_TIMEOUT_MS,
  );
});
