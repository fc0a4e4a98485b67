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
    // Asked of a text that is no address too.
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
/** Owners are made by owners only, and a provider is chosen by admins. */
const role = z.enum(ORGANIZATION_ROLES).exclude(['owner']);

const ISSUER_WORDS = "The provider's address, under which it publishes its configuration.";
const CLIENT_WORDS = 'What the provider knows this control plane by.';
const DOMAINS_WORDS =
  'Domains of the e-mail addresses that may sign in, at least one: many providers have users of all the world.';
const ROLE_WORDS =
  'What a user is in the organization at the first sign-in; later sign-ins leave the role as it is then.';

export const signInProviderSchema = z
  .object({
    organizationId: uuid.describe('Id of the organization whose provider it is.'),
    issuer: z.string().describe(ISSUER_WORDS),
    clientId: z.string().describe(CLIENT_WORDS),
    domains: z.array(z.string()).describe(DOMAINS_WORDS),
    defaultRole: z.enum(ORGANIZATION_ROLES).describe(ROLE_WORDS),
    callbackPath: z
      .string()
      .describe("Path under the console's address that the provider is to send browsers back to."),
    version,
    createdAt: time.describe('When it was first set.'),
  })
  .meta({ id: 'OrganizationSignInProvider' });

/** Path that a provider sends browsers back to when a user has signed in there. */
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
        'What the provider believes it by; never shown. Needed at first and for another issuer; left out: as it is.',
      ),
    domains: z.array(domain).min(1).max(DOMAINS_MAX).describe(DOMAINS_WORDS),
    defaultRole: role.default('viewer').describe(ROLE_WORDS),
  }),
) {}
export class SignInProviderDto extends dto(signInProviderSchema) {}
