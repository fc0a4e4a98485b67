import { ORGANIZATION_ROLES } from '@holdfast/access/permissions.js';
import type { SignInProviderRow } from '@holdfast/database/queries/sign-in-providers.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { time, uuid, version } from '../../http/schemas.js';

const DOMAINS_MAX = 20;

const issuer = z
  .url({ protocol: /^https?$/, error: 'must be an https address' })
  .max(2_000)
  .refine((text) => {
    // Also called for texts that are no URL.
    if (!URL.canParse(text)) return true;
    const { username, password, hash, search } = new URL(text);
    return username === '' && password === '' && hash === '' && search === '';
  }, 'must have no user, password, query or fragment');
const domain = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/,
    'must be a domain such as example.org',
  );
/** Only owners may create owners, but admins may choose a provider. */
const role = z.enum(ORGANIZATION_ROLES).exclude(['owner']);

const ISSUER_WORDS = "Issuer: the provider's address, under which it publishes its configuration.";
const CLIENT_WORDS = 'Client id of this control plane at the provider.';
const DOMAINS_WORDS =
  'Domains of the e-mail addresses that may sign in, at least one: many providers are open to everyone.';
const ROLE_WORDS =
  'Role of a user in the organization at the first sign-in; later sign-ins do not change it.';

export const signInProviderSchema = z
  .object({
    organizationId: uuid.describe("Id of the provider's organization."),
    issuer: z.string().describe(ISSUER_WORDS),
    clientId: z.string().describe(CLIENT_WORDS),
    domains: z.array(z.string()).describe(DOMAINS_WORDS),
    defaultRole: z.enum(ORGANIZATION_ROLES).describe(ROLE_WORDS),
    callbackPath: z
      .string()
      .describe("Redirect path, under the console's address, to register at the provider."),
    version,
    createdAt: time.describe('Time at which it was first set.'),
  })
  .meta({ id: 'OrganizationSignInProvider' });

/** Redirect path for browsers after a sign-in at a provider. */
export function callbackPathOf(organizationId: string): string {
  return `/api/v1/oidc/callback/${organizationId}`;
}

export function signInProviderView(row: SignInProviderRow): z.infer<typeof signInProviderSchema> {
  const { createdAt, ...rest } = row;
  return { ...rest, callbackPath: callbackPathOf(row.organizationId), createdAt: createdAt.toISOString() };
}

export class PutSignInProviderBody extends dto(
  z.strictObject({
    issuer: issuer.describe(`${ISSUER_WORDS} https; http only in networks that the operator allows.`),
    clientId: z.string().trim().min(1).max(255).describe(CLIENT_WORDS),
    clientSecret: z
      .string()
      .min(1)
      .max(1_000)
      .optional()
      .describe(
        'Client secret at the provider; never shown. Required at first and for another issuer; left out: unchanged.',
      ),
    domains: z.array(domain).min(1).max(DOMAINS_MAX).describe(DOMAINS_WORDS),
    defaultRole: role.default('viewer').describe(ROLE_WORDS),
  }),
) {}
export class SignInProviderDto extends dto(signInProviderSchema) {}
