import type { AccessFacts } from '@holdfast/access/decide-access.js';
import { projectRolesOf, projectRoleWithin, weakerRole } from '@holdfast/access/permissions.js';
import type {
  ClusterId,
  NodeId,
  OrganizationId,
  ProjectId,
  TokenId,
  UserId,
} from '@holdfast/core/model/ids.js';
import type { TokenRoles } from '@holdfast/database/queries/tokens.js';
import type { TokenLimits } from './token-limits.js';

export type UserRoles = Pick<AccessFacts, 'role' | 'projectRoles'>;

/** A user, authenticated by a session or by one of their tokens. */
export type UserActor = UserRoles & {
  kind: 'user';
  tokenId: TokenId;
  tokenKind: 'session' | 'api';
  /** Hash of the sent secret: work that outlives the request, such as an event stream, ends with the secret, not only with the token. */
  secretHash: string;
  organizationId: OrganizationId;
  userId: UserId;
  /** The project that new volumes belong to when the request names none. */
  projectId: ProjectId | undefined;
  limits: TokenLimits;
  /** Expiry of the token; `undefined`: never. */
  expiresAt: Date | undefined;
};

/** The roles of a user with this token; `undefined`: its user is no member. */
export function rolesOf({
  token_role: tokenRole,
  member_role: memberRole,
  project_roles,
}: TokenRoles): UserRoles | undefined {
  if (memberRole === null) return undefined;
  const ofProjects = [...projectRolesOf(project_roles)].flatMap(([projectId, role]) => {
    const left = projectRoleWithin(role, tokenRole);
    return left === undefined ? [] : [[projectId, left] as const];
  });
  return { role: weakerRole(tokenRole, memberRole), projectRoles: new Map(ofProjects) };
}

/** The agent of one node, authenticated by its certificate. */
export type AgentActor = {
  kind: 'agent';
  nodeId: NodeId;
  /** The node's name, under which the agent has joined. */
  name: string;
  organizationId: OrganizationId;
  clusterId: ClusterId;
};
