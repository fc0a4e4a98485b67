/**
 * The table of what members leave behind: what works on after the request that made it, which right that takes, and what
 * becomes of it once its maker has lost that right by being removed, demoted or disabled.
 *
 * The test of the API that goes through the table makes each kind, takes the right from its maker in each way, and uses it after.
 */
import { type Action, ORGANIZATION_ROLES, type OrganizationRole, permissionOf } from './permissions.js';

/**
 * - `judged`: it stays, and at each use allows what its maker may at that moment.
 * - `deleted`: its secret stops working. It is judged at its use too, against one that is being made at the same moment.
 * - `ended`: it is over as if its time were.
 * - `disabled`: it does nothing until an admin enables it, who answers for it from then on.
 * - `emptied`: its limits are 0 until an admin sets them anew; what is there by it stays.
 * - `stays`: it is the organization's, and works on.
 */
export type End = 'judged' | 'deleted' | 'ended' | 'disabled' | 'emptied' | 'stays';

export type LeftBehind = {
  /** The least role in the organization that its maker has to have still. */
  readonly least: OrganizationRole;
  readonly end: End;
  /** What it lets its holder do, or why it stays. */
  readonly because: string;
};

const leastFor = (action: Action): OrganizationRole => permissionOf(action).organization;

export const LEFT_BEHIND = {
  session: { least: 'member', end: 'judged', because: 'acts as its user' },
  token: { least: 'member', end: 'judged', because: 'acts as its user' },
  'device code': {
    least: 'member',
    end: 'judged',
    because: 'becomes a token of the user who has approved it',
  },
  'service account token': {
    least: leastFor('member:write'),
    end: 'stays',
    because: 'acts as the service account, whose programs outlive members; admins rotate it',
  },
  invitation: { least: leastFor('member:write'), end: 'deleted', because: 'makes a member' },
  "owner's invitation": { least: 'owner', end: 'deleted', because: 'makes an owner' },
  'join token': {
    least: leastFor('node:write'),
    end: 'deleted',
    because: 'makes nodes, which hold copies of volumes',
  },
  silence: { least: leastFor('alert:write'), end: 'ended', because: 'hides alerts' },
  webhook: {
    least: leastFor('webhook:write'),
    end: 'disabled',
    because: 'sends events to an address of its maker',
  },
  grant: {
    least: leastFor('grant:write'),
    end: 'emptied',
    because: "lets another organization place volumes, which may be its maker's too",
  },
  'sign-in provider': {
    least: leastFor('sign-in-provider:write'),
    end: 'judged',
    because: 'makes members of those whom it vouches for; known ones sign in as before',
  },
} as const satisfies Record<string, LeftBehind>;

export type LeftKind = keyof typeof LEFT_BEHIND;

export const LEFT_KINDS = Object.keys(LEFT_BEHIND).filter(isLeftKind);

function isLeftKind(text: string): text is LeftKind {
  return Object.hasOwn(LEFT_BEHIND, text);
}

/** May a member of this role have left such a thing behind? @param role `undefined`: a member no longer, or a disabled one */
export function mayHaveMade(kind: LeftKind, role: OrganizationRole | undefined): boolean {
  if (role === undefined) return false;
  return ORGANIZATION_ROLES.indexOf(role) >= ORGANIZATION_ROLES.indexOf(LEFT_BEHIND[kind].least);
}

/** Kinds of which a member of this role may not have made any, so that those that it has made end now. */
export function endedWith(role: OrganizationRole | undefined): LeftKind[] {
  return LEFT_KINDS.filter((kind) => !mayHaveMade(kind, role));
}
