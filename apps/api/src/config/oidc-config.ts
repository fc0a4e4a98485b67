/** Configuration of the OpenID provider that users may sign in by. */
import type { ProviderRules } from '@holdfast/access/decide-provider-sign-in.js';
import { ORGANIZATION_ROLES, type OrganizationRole } from '@holdfast/access/permissions.js';
import { z } from 'zod';

export type OidcConfig = {
  readonly issuer: URL;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Name of the provider on the console's button. */
  readonly name: string;
  /** Name of its users' organization. */
  readonly organization: string;
  /** URL of the console for browsers: the provider redirects them there. */
  readonly consoleUrl: URL;
  /** Claim that lists a user's groups. */
  readonly groupsClaim: string;
  readonly rules: ProviderRules;
};

/** A provider on loopback needs no HTTPS. */
const LOOPBACK_HOSTS = new Set(['127.0.0.1', '[::1]', 'localhost']);

export function isOnThisMachine(issuer: URL): boolean {
  return LOOPBACK_HOSTS.has(issuer.hostname);
}

const role = z.enum(ORGANIZATION_ROLES);
const url = z.url().transform((text) => new URL(text));
const list = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()])));

export const oidcEnvironment = z.object({
  /** Address of the OpenID provider; left out: users sign in by password only. */
  HOLDFAST_OIDC_ISSUER: url.optional(),
  HOLDFAST_OIDC_CLIENT_ID: z.string().default(''),
  HOLDFAST_OIDC_CLIENT_SECRET: z.string().default(''),
  HOLDFAST_OIDC_NAME: z.string().default('single sign-on'),
  HOLDFAST_OIDC_ORGANIZATION: z.string().default(''),
  HOLDFAST_CONSOLE_URL: url.optional(),
  HOLDFAST_OIDC_GROUPS_CLAIM: z.string().min(1).default('groups'),
  /** Roles of groups, such as `storage-admins=admin,ops=operator`. */
  HOLDFAST_OIDC_ROLES: list.transform((pairs, context) => {
    const roles = new Map<string, OrganizationRole>();
    for (const pair of pairs) {
      const at = pair.lastIndexOf('=');
      const found = role.safeParse(pair.slice(at + 1));
      if (at > 0 && found.success) roles.set(pair.slice(0, at), found.data);
      else context.addIssue(`${pair} is no group=role; roles are ${ORGANIZATION_ROLES.join(', ')}`);
    }
    return roles;
  }),
  HOLDFAST_OIDC_DEFAULT_ROLE: z.union([z.literal(''), role]).optional(),
  /** Domains of e-mail addresses that may sign in, by commas; empty: any. */
  HOLDFAST_OIDC_DOMAINS: list,
});

/** @throws Error that names what is missing or unsafe */
export function oidcConfigOf(env: z.output<typeof oidcEnvironment>): OidcConfig | undefined {
  const { HOLDFAST_OIDC_ISSUER: issuer, HOLDFAST_CONSOLE_URL: consoleUrl } = env;
  if (issuer === undefined) return undefined;
  if (issuer.protocol !== 'https:' && !isOnThisMachine(issuer)) {
    throw new Error('wrong configuration:\n  HOLDFAST_OIDC_ISSUER: must be HTTPS, beyond this machine');
  }
  const needed = [
    'HOLDFAST_OIDC_CLIENT_ID',
    'HOLDFAST_OIDC_CLIENT_SECRET',
    'HOLDFAST_OIDC_ORGANIZATION',
    'HOLDFAST_CONSOLE_URL',
  ] as const;
  const missing = needed.filter((name) => env[name] === undefined || env[name] === '');
  if (missing.length > 0 || consoleUrl === undefined) {
    throw new Error(`wrong configuration:\n  HOLDFAST_OIDC_ISSUER needs ${missing.join(', ')} too`);
  }
  return {
    issuer,
    clientId: env.HOLDFAST_OIDC_CLIENT_ID,
    clientSecret: env.HOLDFAST_OIDC_CLIENT_SECRET,
    name: env.HOLDFAST_OIDC_NAME,
    organization: env.HOLDFAST_OIDC_ORGANIZATION,
    consoleUrl,
    groupsClaim: env.HOLDFAST_OIDC_GROUPS_CLAIM,
    rules: {
      domains: env.HOLDFAST_OIDC_DOMAINS.map((domain) => domain.toLowerCase()),
      roleOfGroup: env.HOLDFAST_OIDC_ROLES,
      defaultRole: env.HOLDFAST_OIDC_DEFAULT_ROLE === '' ? undefined : env.HOLDFAST_OIDC_DEFAULT_ROLE,
    },
  };
}
