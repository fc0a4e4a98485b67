import { CLIENT_SECRET, TestProvider } from '@holdfast/testkit/test-provider.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { OidcClient } from './oidc-client.js';

const CONSOLE = 'http://console.example.test';
const ADA = { email: 'ada@example.test', email_verified: true, name: 'Ada', groups: [] };

let provider: TestProvider;

beforeEach(async () => {
  provider = await TestProvider.start(CONSOLE);
  provider.visitor = ['sub-ada', ADA];
});
afterEach(() => provider.stop());

async function signIn() {
  const client = new OidcClient({
    issuer: new URL(provider.issuer),
    clientId: 'holdfast',
    clientSecret: CLIENT_SECRET,
    groupsClaim: undefined,
    check: async () => undefined,
  });
  const { url, attempt } = await client.begin(new URL(`${CONSOLE}/api/v1/oidc/callback`));
  const { search } = await provider.visit(url.href);
  return client.end(search, attempt);
}

test('an ID token that the provider has signed names the user', async () => {
  expect(await signIn()).toMatchObject({ subject: 'sub-ada', name: 'Ada' });
});

test('an ID token that is signed by a key which the provider does not publish is refused', async () => {
  provider.publishesOtherKeys = true;
  await expect(signIn()).rejects.toMatchObject({
    cause: { message: expect.stringContaining('signature verification failed') },
  });
});
