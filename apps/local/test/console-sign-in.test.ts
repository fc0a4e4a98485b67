/** Sign-in by an identity provider in a real browser: from a page that was asked for, over the provider, and back to that page. */
import { findBrowser } from '@holdfast/testkit/browser.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { TestProvider } from '@holdfast/testkit/test-provider.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const GOING = '/events?q=severity!%3Dinfo';
const executable = findBrowser();
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = executable === undefined ? describe.skip : describe;

let visit: ConsoleVisit;
let page: ConsoleVisit['page'];
let provider: TestProvider;

beforeAll(async () => {
  if (executable === undefined) return;
  provider = await TestProvider.start();
  provider.asksFirst = true;
  const ada = { email: 'ada@example.test', email_verified: true, name: 'Ada', groups: ['ops'] };
  provider.visitor = ['sub-ada', ada];
  visit = await ConsoleVisit.begin(executable, async ({ local }) => provider.leadBackTo(local.consoleUrl), {
    env: {
      ...provider.environment,
      HOLDFAST_OIDC_NAME: 'Example ID',
      HOLDFAST_OIDC_ORGANIZATION: 'Local',
      HOLDFAST_OIDC_ROLES: 'ops=operator',
    },
  });
  ({ page } = visit);
});

afterAll(async () => {
  await visit?.end();
  provider?.stop();
});

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
