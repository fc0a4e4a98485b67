/** Calls about the OpenID provider of an organization, and about signing in by it. */
import type { Body, Schema } from '@holdfast/api-client/client.js';
import { ask, askDone, client } from './client';
import { isProblem } from './problem';

export type SignInProvider = Schema<'OrganizationSignInProvider'>;
export type SignInProviderBody = Body<'/api/v1/organizations/{organizationId}/sign-in-provider', 'put'>;

const PROVIDER = '/api/v1/organizations/{organizationId}/sign-in-provider' as const;

export const signInProviderApi = {
  /** Null: the organization has none of its own. */
  find: async (organizationId: string): Promise<SignInProvider | null> => {
    try {
      return await ask(client.GET(PROVIDER, { params: { path: { organizationId } } }));
    } catch (problem) {
      if (isProblem(problem) && problem.code === 'sign_in_provider.not_found') return null;
      throw problem;
    }
  },
  set: (organizationId: string, body: SignInProviderBody) =>
    ask(client.PUT(PROVIDER, { params: { path: { organizationId } }, body })),
  remove: (organizationId: string) =>
    askDone(client.DELETE(PROVIDER, { params: { path: { organizationId } } })),
  /**
   * Address at the provider of the organization with that name, for the browser.
   *
   * @param next page after the sign-in
   */
  begin: async (organization: string, next: string) =>
    (await ask(client.POST('/api/v1/oidc/start', { body: { organization, next } }))).url,
  /** Address at which a sign-in by the installation's provider begins. */
  startAt: (next: string) => `/api/v1/oidc/start?${new URLSearchParams({ next })}`,
};
