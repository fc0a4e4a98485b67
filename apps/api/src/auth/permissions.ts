import type { MemberRole } from '@holdfast/database/queries/tenancy.js';

/** Each role may do what those before it may. */
export const ROLES = ['viewer', 'operator', 'admin', 'owner'] as const satisfies readonly MemberRole[];

/** The one table of who may do what: the least role that an action needs. */
const LEAST_ROLE = {
  'organization:read': 'viewer',
  'project:read': 'viewer',
  'project:write': 'admin',
  'member:read': 'viewer',
  'audit:read': 'admin',
  'token:own': 'viewer',
  'cluster:read': 'viewer',
  'cluster:write': 'admin',
  'node:read': 'viewer',
  'node:write': 'admin',
  'volume:read': 'viewer',
  'volume:write': 'operator',
  // It keeps the process busy for a moment, so it is for those who may also create what they ask about.
  'placement:simulate': 'operator',
  'rebuild:read': 'viewer',
  'rebuild:write': 'operator',
  'setting:read': 'viewer',
  'setting:write': 'admin',
  'event:read': 'viewer',
} as const satisfies Record<string, MemberRole>;

export type Action = keyof typeof LEAST_ROLE;

/** Every action, as tokens are limited to some of them. */
export const ACTIONS = Object.keys(LEAST_ROLE).filter(isAction);

export function isAction(text: string): text is Action {
  return Object.hasOwn(LEAST_ROLE, text);
}

export function isAllowed(role: MemberRole, action: Action): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(LEAST_ROLE[action]);
}

export function leastRole(action: Action): MemberRole {
  return LEAST_ROLE[action];
}

/** The weaker of two: a token never allows more than its owner's membership, nor than it was made for. */
export function weakerRole(a: MemberRole, b: MemberRole): MemberRole {
  return ROLES.indexOf(a) < ROLES.indexOf(b) ? a : b;
}
