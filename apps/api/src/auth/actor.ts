import type { ClusterId, OrganizationId, ProjectId, TokenId, UserId } from '@holdfast/core/model/ids.js';
import type { OrganizationRole, ProjectRole } from '@holdfast/core/policy/permissions.js';
import type { TokenLimits } from './token-limits.js';

/** A user, authenticated by a session or by one of their tokens. */
export type UserActor = {
  kind: 'user';
  tokenId: TokenId;
  tokenKind: 'session' | 'api';
  organizationId: OrganizationId;
  userId: UserId;
  role: OrganizationRole;
  /** What it may do beyond that, in single projects. */
  projectRoles: ReadonlyMap<ProjectId, ProjectRole>;
  /** The project that new volumes belong to when the request names none. */
  projectId: ProjectId | undefined;
  limits: TokenLimits;
  /** When the token ends; `undefined`: never. */
  expiresAt: Date | undefined;
};

/** The agents of one cluster. */
export type AgentActor = {
  kind: 'agent';
  tokenId: TokenId;
  organizationId: OrganizationId;
  clusterId: ClusterId;
};

export type Actor = UserActor | AgentActor;
