import { generateKeyPair } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import Provider from 'oidc-provider';

export type ProviderUser = { email: string; email_verified: boolean; name: string; groups: string[] };

type ProviderRole = { organizationIds?: readonly string[]; saidIssuer?: string };

export const CLIENT_SECRET = 'a secret of the client';
/** A sign-in takes a few redirects; more are a circle. */
const REDIRECTS_MAX = 10;

/** A real OpenID provider in this process. Every browser acts as its visitor, who agrees to everything, or is asked first. */
export class TestProvider {
  /** Name at the provider, and claims about the user. */
  visitor: [subject: string, user: ProviderUser] = [
    'nobody',
    { email: '', email_verified: false, name: '', groups: [] },
  ];

  /** A page asks the visitor in a browser whether to go on; without it the provider agrees at once. */
  asksFirst = false;

  /** Its tokens are signed by a key that it does not publish, as those of another provider. */
  publishesOtherKeys = false;

  /** How often it was called. */
  requests = 0;

  private constructor(
    private readonly server: Server,
    readonly issuer: string,
  ) {}

  /**
   * @param consoleUrl where it sends browsers back to; left out: `leadBackTo` says it before the first one comes
   * @param as the organizations whose users sign in by it, and the issuer that it says to be
   */
  static async start(consoleUrl?: string, as: ProviderRole = {}): Promise<TestProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    // It listens on a port.
    const { port } = server.address() as AddressInfo;
    const made = new TestProvider(server, `http://127.0.0.1:${port}`);
    if (consoleUrl !== undefined) made.leadBackTo(consoleUrl, as);
    return made;
  }

  /** The variables that name it. */
  get environment(): Record<string, string> {
    return {
      HOLDFAST_OIDC_ISSUER: this.issuer,
      HOLDFAST_OIDC_CLIENT_ID: 'holdfast',
      HOLDFAST_OIDC_CLIENT_SECRET: CLIENT_SECRET,
    };
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** Walks through the provider as a browser does. Returns the address that it sends the browser to in the end. */
  async visit(begin: string): Promise<URL> {
    let url = new URL(begin);
    const jar = new Map<string, string>();
    for (let redirects = 0; url.origin === this.issuer; redirects += 1) {
      if (redirects > REDIRECTS_MAX) throw new Error(`the provider does not come to an end: ${url.href}`);
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await fetch(url, { redirect: 'manual', headers: { cookie } });
      for (const text of answer.headers.getSetCookie()) {
        const [name = '', value = ''] = (text.split(';')[0] ?? '').split(/=(.*)/s);
        jar.set(name, value);
      }
      url = new URL(String(answer.headers.get('location')), url);
    }
    return url;
  }

  /** Begins to answer. */
  leadBackTo(
    consoleUrl: string,
    { organizationIds = [], saidIssuer = this.issuer }: ProviderRole = {},
  ): void {
    const paths = ['', ...organizationIds.map((id) => `/${id}`)];
    const redirect_uris = paths.map((path) => `${consoleUrl}/api/v1/oidc/callback${path}`);
    const provider = new Provider(saidIssuer, {
      clients: [{ client_id: 'holdfast', client_secret: CLIENT_SECRET, redirect_uris }],
      pkce: { required: () => true },
      claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
      features: { devInteractions: { enabled: false } },
      cookies: { keys: ['a key of the test'] },
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      findAccount: (_context, accountId) => ({
        accountId,
        claims: () => ({ sub: accountId, ...this.visitor[1] }),
      }),
    });
    const answer = provider.callback();
    this.server.on('request', async (request, response) => {
      this.requests += 1;
      if (request.url === '/jwks' && this.publishesOtherKeys) return await answerOtherKeys(response);
      if (!request.url?.startsWith('/interaction/')) return answer(request, response);
      if (this.asksFirst && request.method === 'GET') return ask(request, response);
      if ((await textOf(request)).includes('answer=no')) {
        const refusal = { error: 'access_denied', error_description: 'End-User aborted interaction' };
        return provider.interactionFinished(request, response, refusal);
      }
      const { params, session } = await provider.interactionDetails(request, response);
      const [accountId] = this.visitor;
      const clientId = String(params.client_id);
      const grant = new provider.Grant({ accountId: session?.accountId ?? accountId, clientId });
      grant.addOIDCScope('openid email profile');
      const consent = { grantId: await grant.save() };
      return provider.interactionFinished(request, response, { login: { accountId }, consent });
    });
  }
}

async function answerOtherKeys(response: ServerResponse): Promise<void> {
  const { publicKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  // The name of the provider's own key: of the two only the signature tells them apart.
  const key = { ...publicKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'keystore-CHANGE-ME' };
  response.setHeader('content-type', 'application/jwk-set+json').end(JSON.stringify({ keys: [key] }));
}

/** The page of a provider, as far as a visitor needs it. */
function ask(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('content-type', 'text/html; charset=utf-8').end(
    `<!doctype html><html lang="en"><title>Provider</title><h1>Go on to Holdfast?</h1>
    <form method="post" action="${request.url}">
    <button name="answer" value="yes">Go on</button> <button name="answer" value="no">Cancel</button></form>`,
  );
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
