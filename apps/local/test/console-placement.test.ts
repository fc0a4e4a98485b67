/** Placement in the console: where a volume would go while its form is filled, and cures that are carried out by a button. */
import { findBrowser } from '@holdfast/testkit/browser.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const STORY_TIMEOUT_MS = 240_000;
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

const dialog = () => page.getByRole('dialog');
const liveFit = () => dialog().getByRole('status');

inBrowser('placement in the console', () => {
  test(
    'tells where a volume would go, and why not, while its form is filled',
    async () => {
      await page.getByRole('link', { name: 'Volumes' }).first().click();
      await page.getByRole('button', { name: 'Create volume' }).first().click();
      await liveFit()
        .getByText(/^Fits: node-\d\/disk-\d, node-\d\/disk-\d, node-\d\/disk-\d$/)
        .waitFor();
      await dialog().getByText('All options').click();
      await dialog().getByLabel('Only on nodes with tags').fill('no-such-tag');
      await liveFit()
        .getByText(/^Does not fit: No disk can take/)
        .waitFor();
      expect(await visit.problems('create-volume')).toEqual([]);
      await dialog().getByLabel('Only on nodes with tags').fill('');
      await dialog().getByLabel('Labels').fill('team=payments');
      await dialog().getByLabel('Copies', { exact: true }).fill('4');
      await liveFit()
        .getByText(/Set replicaSoftAntiAffinity/)
        .waitFor();
      await dialog().getByLabel('Name').fill('web-data');
      await dialog().getByRole('button', { name: 'Create volume' }).click();
      await page.getByRole('heading', { name: 'web-data' }).waitFor();
      await page.getByRole('list', { name: 'Labels of web-data' }).getByText('team=payments').waitFor();
    },
    STORY_TIMEOUT_MS,
  );

  test(
    'carries a cure out once its plan has been seen',
    async () => {
      await page.getByRole('region', { name: 'Not fully placed' }).waitFor();
      const why = page.getByRole('region', { name: 'Why there', exact: true });
      await why.getByText('Fits nowhere').waitFor();
      await why.getByRole('link', { name: 'Open nodes' }).waitFor();
      await why.getByRole('button', { name: /^Show the plan: Set replicaSoftAntiAffinity/ }).click();
      await dialog().getByText('replica soft anti affinity: ignored → enabled').waitFor();
      expect(await visit.problems('cure-plan')).toEqual([]);
      await dialog().getByRole('button', { name: 'Do it' }).click();
      await why.getByText('Fits nowhere').waitFor({ state: 'detached', timeout: 60_000 });
      await page.getByRole('region', { name: 'Settings of this volume' }).getByText('Set here').waitFor();
      expect(visit.errors).toEqual([]);
    },
    STORY_TIMEOUT_MS,
  );
});
