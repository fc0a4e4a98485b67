/** Calls about tokens and sessions. */

import type { OrganizationRole } from '@holdfast/access/permissions.js';
import type { Schema } from '@holdfast/api-client/client.js';
import { ask, askAll, askDone, client } from './client';

export type Token = Schema<'Token'>;
export type TokenWish = {
  name: string;
  role?: OrganizationRole;
  projectId?: string;
  readOnly: boolean;
  addressRanges?: string[];
  expiresAt?: string;
};

const TOKEN = '/api/v1/tokens/{tokenId}' as const;

export const credentialsApi = {
  /** Sessions have a list of their own. */
  tokens: async () =>
    (await askAll((query) => client.GET('/api/v1/tokens', { params: { query } }))).filter(
      ({ kind }) => kind === 'api',
    ),
  createToken: (body: TokenWish) => ask(client.POST('/api/v1/tokens', { body })),
  createAccountToken: (serviceAccountId: string, body: TokenWish) =>
    ask(
      client.POST('/api/v1/service-accounts/{serviceAccountId}/tokens', {
        params: { path: { serviceAccountId } },
        body,
      }),
    ),
  rotateToken: (tokenId: string) => ask(client.POST(`${TOKEN}/rotate`, { params: { path: { tokenId } } })),
  revokeToken: (tokenId: string) => askDone(client.DELETE(TOKEN, { params: { path: { tokenId } } })),
  sessions: () => askAll((query) => client.GET('/api/v1/sessions', { params: { query } })),
  endSession: (tokenId: string) =>
    askDone(client.DELETE('/api/v1/sessions/{tokenId}', { params: { path: { tokenId } } })),
};
