/**
 * The console when things are bad: a serving node that is dead, and an API that hangs. What it shows has to be so, in a real
 * browser on a real stack.
 */
import { findBrowser } from '@holdfast/testkit/browser.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const STORY_TIMEOUT_MS = 240_000;
/** What a user waits at most until the page tells that the API does not answer, and the time of this test's own looks. */
const TELLS_MS_MAX = 15_000;
const executable = findBrowser();
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = executable === undefined ? describe.skip : describe;

let visit: ConsoleVisit;
let stack: ConsoleVisit['stack'];
let page: ConsoleVisit['page'];

beforeAll(async () => {
  if (executable === undefined) return;
  visit = await ConsoleVisit.begin(executable, async (local) => {
    for (const [name, node] of [
      ['served-here', 'node-1'],
      ['served-there', 'node-2'],
    ] as const) {
      await local.cliJson('volume', 'create', name, '--size', '64Mi', '--replicas', '3');
      await local.cliJson('volume', 'attach', name, '--node', node);
    }
  });
  ({ stack, page } = visit);
  await visit.signIn();
}, STORY_TIMEOUT_MS);

afterAll(() => visit?.end(), STORY_TIMEOUT_MS);

const region = (name: string) => page.getByRole('region', { name, exact: true });

inBrowser('the console', () => {
  test(
    'says of a healthy cluster that nothing is at risk, now',
    async () => {
      await region('Is any data at risk?').getByText('All 2 volumes have every copy it should.').waitFor();
      await region('When will it be safe?').getByText('Now', { exact: true }).waitFor();
      await visit.picture('truth-healthy');
    },
    STORY_TIMEOUT_MS,
  );

  test(
    'shows the dead serving node as one cause, and never its volume as healthy or safe',
    async () => {
      stack.killAgent('node-1');
      const atRisk = region('Is any data at risk?');
      await atRisk.getByText('node-1 does not answer: 1 not served, 1 degraded').waitFor({ timeout: 60_000 });
      const safe = region('When will it be safe?');
      await safe.getByText('Not without you').waitFor();
      expect(await safe.getByText('Now', { exact: true }).count()).toBe(0);
      await region('Recent events').getByText('node node-1 does not answer').waitFor();
      expect(await visit.problems('truth-node-dead')).toEqual([]);

      await page.getByRole('link', { name: 'Volumes' }).first().click();
      const row = page.getByRole('row', { name: /served-here/ });
      await row.getByText('Not served').waitFor();
      await row.getByText('?/3').waitFor();
      expect(await page.getByRole('row').nth(1).textContent()).toContain('served-here');
      expect(await visit.problems('truth-volumes')).toEqual([]);

      await visit.openVolume('served-here');
      await region('Where its copies are').getByText('No answer', { exact: true }).waitFor();
      expect(await region('Where its copies are').getByText('Healthy', { exact: true }).count()).toBe(0);
      await region('Connect').getByText('its address leads nowhere now').waitFor();
      expect(await page.getByText(/^nbd:/).count()).toBe(0);
      await page.getByText('detach it by force').first().waitFor();
      expect(await visit.problems('truth-volume')).toEqual([]);
    },
    STORY_TIMEOUT_MS,
  );

  test(
    'tells within seconds that the API hangs, on every panel, and recovers without a user',
    async () => {
      await page.getByRole('link', { name: 'Overview' }).first().click();
      await region('Is any data at risk?').getByText('node-1 does not answer').waitFor();
      process.kill(stack.local.processes.api, 'SIGSTOP');
      try {
        await page.getByText('No answer', { exact: true }).waitFor({ timeout: TELLS_MS_MAX });
        expect(await page.getByText('Live', { exact: true }).count()).toBe(0);
        for (const name of [
          'Is any data at risk?',
          'When will it be safe?',
          'Where everything is',
          'Recent events',
        ])
          await region(name).getByText('Not current').first().waitFor();
        await visit.picture('truth-api-hangs');
        await page.getByRole('link', { name: 'What if' }).first().click();
        await page.goto(new URL('/volumes', stack.local.consoleUrl).href);
        await page.getByRole('alert').first().waitFor({ timeout: 30_000 });
        await visit.picture('truth-opened-meanwhile');
      } finally {
        process.kill(stack.local.processes.api, 'SIGCONT');
      }
      await page.getByRole('row', { name: /served-there/ }).waitFor({ timeout: 30_000 });
      await page.getByText('Live', { exact: true }).waitFor({ timeout: 30_000 });
    },
    STORY_TIMEOUT_MS,
  );

  test('no page threw an error in all this', () => {
    expect(visit.errors).toEqual([]);
  });
});
