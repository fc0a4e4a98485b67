/** Decides whether a user whom an OpenID provider vouches for may sign in, and with which role in the organization. */
import { ALLOWED, type Decision, refuse } from '@holdfast/core/policy/decision.js';
import { ORGANIZATION_ROLES, type OrganizationRole } from './permissions.js';

/** What the provider says of a user. */
export type ProviderClaims = {
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  readonly groups: readonly string[];
};

export type ProviderRules = {
  /** Part after the @ of the addresses that may sign in; empty: any. */
  readonly domains: readonly string[];
  readonly roleOfGroup: ReadonlyMap<string, OrganizationRole>;
  /** Of users in none of these groups; `undefined`: they may not sign in. */
  readonly defaultRole: OrganizationRole | undefined;
};

/** The strongest role of the user's groups. */
export function roleByGroups(
  { groups }: Pick<ProviderClaims, 'groups'>,
  { roleOfGroup, defaultRole }: Pick<ProviderRules, 'roleOfGroup' | 'defaultRole'>,
): OrganizationRole | undefined {
  const roles = groups.flatMap((group) => roleOfGroup.get(group) ?? []);
  return (
    roles.sort((a, b) => ORGANIZATION_ROLES.indexOf(b) - ORGANIZATION_ROLES.indexOf(a))[0] ?? defaultRole
  );
}

export function decideProviderSignIn(
  claims: ProviderClaims,
  rules: ProviderRules,
): Decision<'auth.forbidden'> {
  const { email, isEmailVerified } = claims;
  if (email === undefined) {
    return refuse('auth.forbidden', 'the provider names no e-mail address', [
      'have it send the claim `email`',
    ]);
  }
  // Else whoever may choose an address there would get the account of its owner here.
  if (!isEmailVerified) {
    return refuse('auth.forbidden', 'the provider has not verified the e-mail address', ['verify it there']);
  }
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  if (rules.domains.length > 0 && !rules.domains.includes(domain)) {
    return refuse('auth.forbidden', `addresses of ${domain} may not sign in here`, ['use another account']);
  }
  if (roleByGroups(claims, rules) === undefined) {
    return refuse('auth.forbidden', 'none of your groups has a role here', [
      'ask an admin of the organization',
    ]);
  }
  return ALLOWED;
}
