/** The pages about an organization in a real browser: who belongs to it, what they may do, and the secrets that are shown once. */
import { MIB } from '@holdfast/core/model/bytes.js';
import { findBrowser } from '@holdfast/testkit/browser.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { TestReceiver } from '@holdfast/testkit/webhook-receiver.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OrganizationCalls } from './organization-calls.js';

const PHONE = { width: 390, height: 844 };
const VIEWER = { email: 'viewer-of-pages@example.org', name: 'Vera', password: 'a sentence with 9 words' };
/** Without a browser on the machine these tests are counted as skipped, not passed. */
const inBrowser = findBrowser() === undefined ? describe.skip : describe;

let visit: ConsoleVisit<TestCluster>;
let receiver: TestReceiver;
let page: ConsoleVisit['page'];

beforeAll(async () => {
  if (findBrowser() === undefined) return;
  receiver = await TestReceiver.start();
  visit = await ConsoleVisit.beginShared(undefined, { agents: 1 });
  ({ page } = visit);
  await visit.signIn();
});

afterAll(async () => {
  await visit?.end();
  await receiver?.stop();
});

const region = (name: string) => page.getByRole('region', { name, exact: true });
const dialog = () => page.getByRole('dialog');
const button = (name: string) => page.getByRole('button', { name, exact: true });

async function openTab(name: string): Promise<void> {
  await page.getByRole('link', { name: 'Organization', exact: true }).first().click();
  const tab = page.getByRole('navigation', { name: 'Organization' }).getByRole('link', { name, exact: true });
  await tab.click();
  await tab.and(page.locator('[aria-current="page"]')).waitFor();
}

/** The secret of the dialog that shows it once. */
async function readSecret(): Promise<string> {
  const secret = (await dialog().locator('code').textContent()) ?? '';
  await dialog().getByRole('button', { name: 'I have copied it' }).click();
  return secret;
}

async function expectFine(name: string): Promise<void> {
  expect(await visit.problems(name)).toEqual([]);
  await page.setViewportSize(PHONE);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
  await page.setViewportSize({ width: 1360, height: 900 });
}

inBrowser('the organization', () => {
  test('shows its members, and keeps its last owner', async () => {
    await openTab('Members');
    const own = region('Members').getByRole('row', { name: new RegExp(visit.stack.local.email) });
    await own.getByText('owner', { exact: true }).waitFor();
    const remove = own.getByRole('button', { name: /^Remove/ });
    expect(await remove.getAttribute('title')).toContain('only owner');
  });

  test('invites a user by a secret that is shown once, and shows the user who accepted', async () => {
    await button('Invite…').click();
    await dialog().getByLabel('E-mail').fill(VIEWER.email);
    await dialog().getByRole('button', { name: 'Invite', exact: true }).click();
    await dialog().getByText('It is shown this once').waitFor();
    expect(await visit.dialogProblems('invited')).toEqual([]);
    const { email: _, ...account } = VIEWER;
    const accepted = await fetch(`${visit.stack.local.apiUrl}/invitations/accept`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...account, secret: new URL(await readSecret()).hash.slice(1) }),
    });
    expect(accepted.status).toBe(201);
    await page.reload();
    await region('Members').getByRole('row', { name: /Vera/ }).getByText('viewer', { exact: true }).waitFor();
  });

  test('makes a project, gives a role in it, and limits what it may use', async () => {
    await openTab('Projects');
    await button('New project…').click();
    await dialog().getByLabel('Name').fill('shop');
    await dialog().getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('link', { name: 'shop', exact: true }).click();
    await button('Give a role…').click();
    await dialog().getByLabel('Member').selectOption({ label: 'Vera, viewer in the organization' });
    await dialog().getByLabel('Role here').selectOption('operator');
    await dialog().getByRole('button', { name: 'Give role' }).click();
    await region('Roles in this project')
      .getByRole('row', { name: /Vera.*operator/ })
      .waitFor();
    await button('Change limits: Quota of shop').click();
    await dialog().getByLabel('Volumes', { exact: true }).fill('5');
    await dialog().getByRole('button', { name: 'Set limits' }).click();
    await region('Quota of shop').getByText('of 5').waitFor();
    await expectFine('project');
    await openTab('Quotas');
    await region('Quota of project shop').getByText('of 5').waitFor();
  });

  test('makes a token whose secret works, rotates it, and revokes it', async () => {
    const statusWith = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${visit.stack.local.apiUrl}/sessions/current`, { headers })).status;
    };
    await (await OrganizationCalls.signIn(visit.stack.local, VIEWER.email, VIEWER.password)).makeToken(
      'veras-script',
    );
    await openTab('Tokens');
    const another = button('Rotate veras-script');
    await another.and(page.locator('[title*="another member\'s"]')).waitFor();
    await button('New token…').click();
    await dialog().getByLabel('Name').fill('nightly');
    await dialog().getByLabel('Only from these addresses').fill('nowhere');
    await dialog().getByRole('button', { name: 'Create token' }).click();
    await dialog().locator('[aria-invalid="true"]').waitFor();
    await dialog().getByLabel('Only from these addresses').fill('127.0.0.0/8, ::1');
    await dialog().getByRole('button', { name: 'Create token' }).click();
    const first = await readSecret();
    expect(await statusWith(first)).toBe(200);
    await button('Rotate nightly').click();
    await dialog().getByRole('button', { name: 'Rotate', exact: true }).click();
    await dialog().getByText('It is shown this once').waitFor();
    const second = await readSecret();
    expect([await statusWith(first), await statusWith(second)]).toEqual([401, 200]);
    await button('Revoke nightly').click();
    await dialog().getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('nightly is revoked.').waitFor();
    await region('Tokens')
      .getByRole('row', { name: /nightly/ })
      .waitFor({ state: 'detached' });
    expect(await statusWith(second)).toBe(401);
  });

  test('has service accounts, sessions, grants and webhooks, each with what can be done', async () => {
    await openTab('Service accounts');
    await button('New service account…').click();
    await dialog().getByLabel('Name').fill('ci');
    await dialog().getByRole('button', { name: 'Create', exact: true }).click();
    await button('Disable ci').click();
    await dialog().getByRole('button', { name: 'Disable', exact: true }).click();
    await region('Service accounts').getByText('Disabled').waitFor();
    await openTab('Sessions');
    await page.getByText('This one').waitFor();
    await openTab('Sign-in');
    await page.getByText('No sign-in provider').waitFor();
    await button('Set provider…').click();
    await dialog().getByLabel('Issuer').fill('https://10.0.0.1/');
    await dialog().getByLabel('Client id').fill('holdfast');
    await dialog().getByLabel('Client secret').fill('a secret of the client');
    await dialog().getByLabel('E-mail domains').fill('example.org, example.com');
    await dialog().getByRole('button', { name: 'Set provider', exact: true }).click();
    await dialog().getByText('is at an address that is not called').waitFor();
    expect(await visit.dialogProblems('sign-in-provider-dialog')).toEqual([]);
    await dialog().getByLabel('Issuer').fill('https://id.example.org/');
    await dialog().getByRole('button', { name: 'Set provider', exact: true }).click();
    await region('Sign-in provider').getByText('example.org, example.com').waitFor();
    await expectFine('sign-in-provider');
    await button('Delete the sign-in provider').click();
    await dialog().getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No sign-in provider').waitFor();
    await openTab('Grants');
    await page.getByText('No grant was received').waitFor();
    await openTab('Webhooks');
    await page.getByText('No webhooks yet').waitFor();
    await button('New webhook…').click();
    await dialog().getByLabel('Name').fill('pager');
    await dialog().getByLabel('Address').fill('ftp://example.org/hook');
    await dialog().getByRole('button', { name: 'Create webhook' }).click();
    await dialog().locator('[aria-invalid="true"], [role="alert"]').first().waitFor();
    expect(await visit.dialogProblems('webhook-dialog')).toEqual([]);
    await dialog().getByRole('button', { name: 'Cancel' }).click();
  });

  test('shows what became of each delivery of a webhook: refused, tried again, taken, and sent once more', async () => {
    await button('New webhook…').click();
    await dialog().getByLabel('Name').fill('pager');
    await dialog().getByLabel('Address').fill(receiver.url);
    await dialog().getByLabel('Which events').fill('type=VolumeCreated');
    // As often as the page may need to look.
    receiver.answers.push(...Array<number>(20).fill(403));
    await dialog().getByRole('button', { name: 'Create webhook' }).click();
    await readSecret();
    await page.getByRole('link', { name: 'pager', exact: true }).click();
    await page.getByText('Nothing was sent yet').waitFor();
    const { projectId } = visit.stack.local;
    await visit.stack.call('POST', '/volumes', {
      name: 'told',
      size: 16 * MIB,
      numberOfReplicas: 1,
      projectId,
    });
    const delivery = region('Deliveries').getByRole('row', { name: /VolumeCreated/ });
    await delivery.getByText(/^It answers 403$/).waitFor();
    await delivery.getByText('Waiting', { exact: true }).waitFor();
    await region('pager').getByText('Failing', { exact: true }).waitFor();
    await expectFine('webhook-failing');
    receiver.answers.length = 0;
    await delivery.getByText('Delivered', { exact: true }).waitFor();
    const attempts = Number(await delivery.getByRole('cell').nth(2).textContent());
    expect(attempts).toBeGreaterThan(1);
    expect(attempts).toBe(receiver.ids.length);
    await region('pager').getByText('On', { exact: true }).waitFor();
    await delivery.getByRole('button', { name: 'Send again: VolumeCreated' }).click();
    await page.getByRole('status').filter({ hasText: 'VolumeCreated is sent again.' }).waitFor();
    await delivery.getByText('Delivered', { exact: true }).waitFor();
    expect(new Set(receiver.ids).size).toBe(1);
  });

  test('is switched to another one of the same user and back, also where that has no cluster yet', async () => {
    await openTab('Members');
    expect(await page.getByRole('combobox', { name: 'Organization' }).count()).toBe(0);
    await button('New organization…').click();
    await dialog().getByLabel('Name').fill('second');
    await dialog().getByRole('button', { name: 'Create', exact: true }).click();
    await dialog().waitFor({ state: 'detached' });
    const choice = page.getByRole('combobox', { name: 'Organization' });
    await choice.selectOption({ label: 'second' });
    await page.getByText('This organization has no cluster yet').waitFor();
    expect(await visit.problems('no-cluster')).toEqual([]);
    const back = await choice.locator('option:not(:checked)').textContent();
    await choice.selectOption({ label: back ?? '' });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.setViewportSize(PHONE);
    await page.getByRole('button', { name: 'Menu', exact: true }).click();
    await choice
      .locator('option:checked')
      .filter({ hasText: back ?? '' })
      .waitFor({ state: 'attached' });
    expect(await visit.problems('switch-phone')).toEqual([]);
    await page.setViewportSize({ width: 1360, height: 900 });
  });

  test('tells a viewer why something may not be done, and disables it with that reason', async () => {
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await button("Use an organization's provider").click();
    await page.getByLabel('Organization').fill('no such one');
    await button('Continue').click();
    await page.getByText('There is no sign-in provider for an organization no such one').waitFor();
    expect(await visit.problems('sign-in-by-provider')).toEqual([]);
    await button('Use a password').click();
    await page.getByLabel('Email').fill(VIEWER.email);
    await page.getByLabel('Password').fill(VIEWER.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await openTab('What may I do');
    const row = page.getByRole('row', { name: /node:write/ });
    await row.getByText('No', { exact: true }).waitFor();
    await row.getByText(/This needs the role admin; yours is viewer/).waitFor();
    await openTab('Webhooks');
    await page.getByText('You may not see the webhooks').waitFor();
    await page.getByRole('link', { name: 'Nodes and disks' }).first().click();
    const drain = page.getByRole('button', { name: 'Drain…' }).first();
    await drain.and(page.locator('[aria-disabled="true"]')).waitFor();
    expect(await drain.getAttribute('title')).toContain('This needs the role admin; yours is viewer');
    expect(visit.errors).toEqual([]);
  });

  describe('the link of an invitation', () => {
    const PASSWORD = 'a sentence with 9 words';
    const NORA = 'nora@example.org';
    let home: OrganizationCalls;
    let research: OrganizationCalls;
    beforeAll(async () => {
      if (findBrowser() === undefined) return;
      const { email, password } = visit.stack.local;
      // A session that is switched to another organization is another one.
      research = await (await OrganizationCalls.signIn(visit.stack.local, email, password)).found('research');
      home = await OrganizationCalls.signIn(visit.stack.local, email, password);
      await page.context().clearCookies();
      await visit.signIn();
    });

    test('joins by the session of the account that is invited, and by no other one', async () => {
      const link = await research.invite(VIEWER.email);
      await page.goto(link);
      await page.getByRole('heading', { name: 'Join research as viewer' }).waitFor();
      expect(await button('Join research').getAttribute('title')).toContain('for another address');
      await expectFine('invitation');
      await page.getByRole('link', { name: 'Sign in as another user' }).click();
      await page.getByLabel('Email').fill(VIEWER.email);
      await page.getByLabel('Password').fill(VIEWER.password);
      await button('Sign in').click();
      await page.getByText(`You are signed in as ${VIEWER.email}.`).waitFor();
      await button('Join research').click();
      await page.waitForURL((url) => url.pathname === '/');
      expect(await research.members()).toContain(VIEWER.email);
      await page.goto(link);
      await page.reload();
      await page.getByRole('alert').getByText('has been used').waitFor();
    });

    test('makes an account for who has none, and signs its user in', async () => {
      await page.context().clearCookies();
      await page.goto(await research.invite(NORA));
      await page.reload();
      await page.getByRole('link', { name: 'Sign in to join' }).waitFor();
      await button('I have no account yet').click();
      await page.getByLabel('Name', { exact: true }).fill('Nora');
      await page.getByLabel(/^Password/).fill(PASSWORD);
      await expectFine('new-account');
      await button('Make the account and join').click();
      await page.waitForURL((url) => url.pathname === '/');
      expect(await research.members()).toContain(NORA);
    });

    test('is met again on the way back from a provider, which leads to the first page', async () => {
      await page.context().clearCookies();
      await page.goto(await home.invite(NORA));
      await page.reload();
      await page.getByRole('link', { name: 'Sign in to join' }).click();
      await page.getByLabel('Email').waitFor();
      const body = JSON.stringify({ email: NORA, password: PASSWORD });
      await page.evaluate(
        `fetch('/api/v1/sessions', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '${body}' })`,
      );
      await page.goto(visit.stack.local.consoleUrl);
      await page.getByText(`You are signed in as ${NORA}.`).waitFor();
      // Who turns away is not led back.
      await page.goto(visit.stack.local.consoleUrl);
      await page.getByText('This organization has no cluster yet').waitFor();
    });

    test('joins by the CLI with a session; with a token it names the page', async () => {
      const link = await home.invite(NORA);
      const byToken = await visit.stack.cli('member', 'join', link);
      expect(byToken.exitCode).toBe(4);
      expect(byToken.stderr).toContain(`as ${NORA}, open ${visit.stack.local.consoleUrl}`);
      const { token } = await OrganizationCalls.signIn(visit.stack.local, NORA, PASSWORD);
      const bySession = await visit.stack.cli('member', 'join', link, '--token', token);
      expect(bySession).toMatchObject({ exitCode: 0, stderr: '' });
      expect(bySession.stdout).toContain(`${NORA} is viewer of`);
      expect(await home.members()).toContain(NORA);
    });
  });
});
