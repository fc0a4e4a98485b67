/** The page of capacity in a real browser: how many more volumes fit, now and after the loss of a zone. */
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
  visit = await ConsoleVisit.begin(executable);
  ({ page } = visit);
  await visit.signIn();
}, STORY_TIMEOUT_MS);

afterAll(() => visit?.end(), STORY_TIMEOUT_MS);

const room = () => page.getByRole('region', { name: 'How much more fits?', exact: true });

inBrowser('the page of capacity', () => {
  test(
    'says how many more volumes fit, and how many once a zone is lost',
    async () => {
      await page.getByRole('link', { name: 'Capacity' }).first().click();
      // Three copies need three nodes: without a zone there are two.
      await room()
        .getByText(/^[1-9][\d,]* more of 10 GiB × 3 fit; none after losing any zone\.$/)
        .waitFor();
      await room()
        .getByText(/^What stops the next: No disk can take/)
        .waitFor();
      expect(await visit.problems('capacity')).toEqual([]);
      await room().getByLabel('GiB each').fill('4');
      await room().getByLabel('Copies').fill('2');
      await room().getByRole('button', { name: 'Ask' }).click();
      await room()
        .getByText(/^[1-9][\d,]* more of 4 GiB × 2 fit; [1-9][\d,]* after losing any zone\.$/)
        .waitFor();
      expect(new URL(page.url()).search).toBe('?sizeGib=4&replicas=2');
    },
    STORY_TIMEOUT_MS,
  );

  test(
    'fits a phone, and leads to the nodes',
    async () => {
      await page.setViewportSize(PHONE);
      expect(await visit.problems('capacity-phone')).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
      await page
        .getByRole('region', { name: 'The fullest nodes' })
        .getByRole('link', { name: 'node-2' })
        .click();
      await page.getByRole('heading', { name: 'node-2', level: 1 }).waitFor();
      expect(visit.errors).toEqual([]);
    },
    STORY_TIMEOUT_MS,
  );
});
