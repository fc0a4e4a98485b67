/** What a user does by the API whom a test of the console needs beside the one in the browser. */

type Stack = { readonly apiUrl: string; readonly consoleUrl: string };

/** Calls of the API in an organization, by the user's session there. */
export class OrganizationCalls {
  private constructor(
    private readonly stack: Stack,
    readonly token: string,
  ) {}

  static async signIn(stack: Stack, email: string, password: string): Promise<OrganizationCalls> {
    const { token } = await callApi<{ token: string }>(stack, 'POST', '/sessions', {
      body: { email, password },
    });
    return new OrganizationCalls(stack, token);
  }

  /** A new one, which the user owns. */
  async found(name: string): Promise<OrganizationCalls> {
    const { id } = await this.call<{ id: string }>('POST', '/organizations', { name });
    const { token } = await this.call<{ token: string }>('POST', `/sessions/organizations/${id}`);
    return new OrganizationCalls(this.stack, token);
  }

  /** Link of an invitation. */
  async invite(email: string): Promise<string> {
    const body = { email, role: 'viewer' };
    const { secret } = await this.call<{ secret: string }>('POST', '/invitations', body);
    return `${this.stack.consoleUrl}/invitation#${secret}`;
  }

  async makeToken(name: string): Promise<void> {
    await this.call('POST', '/tokens', { name });
  }

  async members(): Promise<string[]> {
    const { items } = await this.call<{ items: { email: string }[] }>('GET', '/members');
    return items.map(({ email }) => email);
  }

  private call<T>(method: string, path: string, body?: object): Promise<T> {
    return callApi(this.stack, method, path, { body, token: this.token });
  }
}

async function callApi<T>(
  stack: Stack,
  method: string,
  path: string,
  { body, token }: { body?: object | undefined; token?: string },
): Promise<T> {
  const answer = await fetch(`${stack.apiUrl}${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  // The caller knows the schema of what it asks for.
  return (await answer.json()) as T;
}
