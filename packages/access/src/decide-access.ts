/** Decision whether a user may do something in an organization, where, and why: the same sentence wherever it is asked. */
import type { ClusterId, ProjectId } from '@holdfast/core/model/ids.js';
import { type Refusal, refuse } from '@holdfast/core/policy/decision.js';
import {
  type Action,
  changesNothing,
  isAllowed,
  isAllowedInProject,
  type OrganizationRole,
  type ProjectRole,
  permissionOf,
  type Whole,
} from './permissions.js';

/** What decides of a user and the token that the request was made with. */
export type AccessFacts = {
  /** What the token allows: the weaker of its own role and its user's. */
  readonly role: OrganizationRole;
  readonly projectRoles: ReadonlyMap<ProjectId, ProjectRole>;
  readonly limits: {
    readonly readOnly: boolean;
    /** `undefined`: all that the role allows. */
    readonly actions: readonly Action[] | undefined;
    /** `undefined`: all of the organization. */
    readonly clusterIds: readonly ClusterId[] | undefined;
    readonly projectIds: readonly ProjectId[] | undefined;
  };
};

export type Access =
  | {
      readonly kind: 'allow';
      /** The projects that it is allowed in; `undefined`: all of the organization. */
      readonly projectIds: readonly ProjectId[] | undefined;
      readonly why: string;
    }
  | Refusal<'auth.forbidden'>;

export function decideAccess(facts: AccessFacts, action: Action): Access {
  const access = accessOfRoles(facts, action);
  const obstacle = obstacleIn(facts.limits, action);
  if (access.kind === 'refuse' || obstacle === undefined) return access;
  return refuse('auth.forbidden', obstacle, ['use another token, or sign in']);
}

function accessOfRoles(facts: AccessFacts, action: Action): Access {
  const { role } = facts;
  const projectIds = projectsFor(facts, action);
  if (isAllowed(role, action)) {
    // A member sees its own projects only, of what all members may see.
    const isBounded = role === 'member';
    return {
      kind: 'allow',
      projectIds: isBounded ? [...facts.projectRoles.keys()] : undefined,
      why: `the role ${role} in the organization allows to ${permissionOf(action).allows}`,
    };
  }
  if (projectIds.length > 0) {
    const count = projectIds.length === 1 ? 'one project' : `${projectIds.length} projects`;
    const why = `your roles in ${count} allow to ${permissionOf(action).allows}, there only`;
    return { kind: 'allow', projectIds, why };
  }
  return refuse('auth.forbidden', whyNot(facts, action), cures(action));
}

/** May the action be done with what is in this project? */
export function isAllowedWithin(facts: AccessFacts, action: Action, projectId: ProjectId): boolean {
  const access = decideAccess(facts, action);
  return access.kind === 'allow' && (access.projectIds?.includes(projectId) ?? true);
}

/** Why a token's limits forbid the action; `undefined`: they don't. */
function obstacleIn(limits: AccessFacts['limits'], action: Action): string | undefined {
  const { readOnly, actions } = limits;
  if (readOnly && !changesNothing(action)) return 'this token is for reading only';
  if (actions !== undefined && !actions.includes(action)) {
    return `this token is for ${actions.join(', ')} only, and this needs ${action}`;
  }
  const { whole } = permissionOf(action);
  const part = whole === undefined ? undefined : partSeenOf(whole, limits);
  if (whole === undefined || part === undefined) return undefined;
  return `this token is limited to ${part}, and this is about ${WHOLE_WORDS[whole]}`;
}

const WHOLE_WORDS = {
  organization: 'the whole organization',
  cluster: 'a whole cluster, which all projects share',
} satisfies Record<Whole, string>;

/** What a token is limited to, where that is less than the whole; `undefined`: it sees all of it. */
function partSeenOf(whole: Whole, { clusterIds, projectIds }: AccessFacts['limits']): string | undefined {
  if (projectIds !== undefined) return 'projects';
  return whole === 'organization' && clusterIds !== undefined ? 'clusters' : undefined;
}

function projectsFor({ projectRoles }: AccessFacts, action: Action): ProjectId[] {
  return [...projectRoles].flatMap(([projectId, role]) =>
    isAllowedInProject(role, action) ? [projectId] : [],
  );
}

function whyNot({ role }: AccessFacts, action: Action): string {
  const { organization, project } = permissionOf(action);
  const orHere = project === undefined ? '' : `, or ${project} in a project`;
  return `this needs the role ${organization}${orHere}; yours is ${role}`;
}

function cures(action: Action): string[] {
  const { organization, project } = permissionOf(action);
  const asks = organization === 'owner' ? 'an owner' : 'an admin';
  return [
    `ask ${asks} of the organization for the role ${organization}`,
    ...(project === undefined ? [] : [`ask an admin of the project for the role ${project} there`]),
  ];
}
