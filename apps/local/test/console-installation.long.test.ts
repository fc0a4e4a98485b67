/**
 * What of the console depends on the installation: a provider that all users sign in by, where agents reach the API, and an API that
 * hangs or dies. On a stack of its own.
 */
import { findBrowser } from '@holdfast/testkit/browser.js';
import { createVolume } from '@holdfast/testkit/cluster-volumes.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import type { LocalStack } from '@holdfast/testkit/local-stack.js';
import { TestProvider } from '@holdfast/testkit/test-provider.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const GOING = '/events?q=severity!%3Dinfo';
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const executable = findBrowser();
const inBrowser = executable === undefined ? describe.skip : describe;

let visit: ConsoleVisit<LocalStack>;
let page: ConsoleVisit['page'];
let provider: TestProvider;

beforeAll(async () => {
  if (executable === undefined) return;
  provider = await TestProvider.start();
  provider.asksFirst = true;
  const ada = { email: 'ada@example.test', email_verified: true, name: 'Ada', groups: ['ops'] };
  provider.visitor = ['sub-ada', ada];
  const env = {
    ...provider.environment,
    HOLDFAST_AGENTS: '1',
    // Where it listens does not say where nodes reach it.
    HOLDFAST_API_HOST: '0.0.0.0',
    HOLDFAST_OIDC_NAME: 'Example ID',
    HOLDFAST_OIDC_ORGANIZATION: 'Local',
    HOLDFAST_OIDC_ROLES: 'ops=operator',
  };
  const prepare = async (stack: LocalStack) => {
    provider.leadBackTo(stack.local.consoleUrl);
    await createVolume(stack, 'web-data', { copies: 1 });
  };
  visit = await ConsoleVisit.begin(executable, prepare, { env });
  ({ page } = visit);
});

afterAll(async () => {
  await visit?.end();
  provider?.stop();
});

const region = (name: string) => page.getByRole('region', { name, exact: true });
const dialog = () => page.getByRole('dialog');
const button = (name: string) => page.getByRole('button', { name, exact: true });
const byProvider = () => page.getByRole('link', { name: 'Sign in with Example ID' });

/** Asks for the page, and goes to the provider instead. */
async function goToProvider(): Promise<void> {
  await byProvider().click();
  await page.getByRole('heading', { name: 'Go on to Holdfast?' }).waitFor();
  expect(new URL(page.url()).origin).toBe(provider.issuer);
}

inBrowser('a sign-in by a provider', () => {
  test('that was cancelled there is told in words on the sign-in page, which still knows where one was going', async () => {
    await page.goto(new URL(GOING, visit.stack.local.consoleUrl).href);
    await goToProvider();
    await page.getByRole('button', { name: 'Cancel' }).click();
    const told = page.locator('main').getByRole('alert');
    await told.waitFor();
    expect(await told.textContent()).toBe(
      'The sign-in was cancelled at the provider, or the provider does not let you use Holdfast.',
    );
    expect(await page.locator('main').textContent()).not.toMatch(/access_denied|aborted/);
    expect(await visit.problems('sign-in-cancelled')).toEqual([]);
    expect(visit.query()).toBe(`?next=${GOING}`);
  });

  test('leads to the page that was asked for, as the user whom the provider names', async () => {
    await goToProvider();
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('heading', { name: 'Events', exact: true }).waitFor();
    expect(await page.getByLabel('Search events').inputValue()).toBe('severity!=info');
    expect(new URL(page.url()).pathname).toBe('/events');
    await page.getByRole('link', { name: 'Organization', exact: true }).first().click();
    await page.getByText('You are ada@example.test, operator here.').waitFor();
    expect(visit.errors).toEqual([]);
  });
});

inBrowser('the command for a new node', () => {
  beforeAll(async () => {
    await page.context().clearCookies();
    await visit.signIn();
  });

  test('says that its address of the API is a guess where the API does not know it, and takes the one that is given', async () => {
    const show = async (apiUrl: string) => {
      await page.getByRole('link', { name: 'Nodes and disks' }).first().click();
      await button('Add node…').click();
      await dialog().getByLabel('Name').fill('node-9');
      await dialog().getByLabel('Address of the node').fill('10.0.0.9');
      await dialog().getByLabel('Address of the API').fill(apiUrl);
      await dialog().getByRole('button', { name: 'Show the command' }).click();
      await dialog().getByText('Waiting for node-9 to join.', { exact: false }).waitFor();
    };
    await show('');
    await dialog().getByText('http://127.0.0.1:7400/api/v1 is a guess', { exact: false }).waitFor();
    expect(await visit.dialogProblems('joining-by-a-guess')).toEqual([]);
    await dialog().getByRole('button', { name: 'Close without waiting' }).click();
    await show('http://10.0.0.5:7400/api/v1');
    expect(await dialog().locator('pre').textContent()).toContain('=http://10.0.0.5:7400/api/v1\n');
    expect(await dialog().getByText('is a guess').count()).toBe(0);
    await dialog().getByRole('button', { name: 'Close without waiting' }).click();
  });
});

inBrowser('the API', () => {
  test('is told of while it hangs, once for the page, and found again without a user', async () => {
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await region('Is any data at risk?').getByText('every copy it should').waitFor();
    await region('Recent events').getByRole('listitem').first().waitFor();
    process.kill(visit.stack.local.processes.api, 'SIGSTOP');
    try {
      await page.getByText('No answer', { exact: true }).waitFor();
      expect(await page.getByText('Live', { exact: true }).count()).toBe(0);
      await page
        .getByRole('alert')
        .getByText(/^The API does not answer\. Not current/)
        .waitFor();
      await page.goto(new URL('/volumes', visit.stack.local.consoleUrl).href);
      // A page that is opened now has nothing to show, and says so as soon as its own question has been given up.
      await page.getByText(/^Could not load/).waitFor();
    } finally {
      process.kill(visit.stack.local.processes.api, 'SIGCONT');
    }
    await page.getByRole('row', { name: /web-data/ }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  test('is connected to again after it was killed, which is told meanwhile', async () => {
    process.kill(visit.stack.local.processes.api, 'SIGKILL');
    // "No answer" takes the place of "Reconnecting…" as soon as a panel's own request has failed as well.
    await page.getByText(/^(Reconnecting…|No answer)$/).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(visit.errors).toEqual([]);
  });
});
