import type {
  ClusterId,
  NodeId,
  OrganizationId,
  ProjectId,
  TokenId,
  UserId,
} from '@holdfast/core/model/ids.js';
import type { MemberRole } from '@holdfast/database/queries/tenancy.js';
import type { TokenLimits } from './token-limits.js';

/** A user, authenticated by a session or by one of their tokens. */
export type UserActor = {
  kind: 'user';
  tokenId: TokenId;
  tokenKind: 'session' | 'api';
  organizationId: OrganizationId;
  userId: UserId;
  role: MemberRole;
  /** The project that new volumes belong to when the request names none. */
  projectId: ProjectId | undefined;
  limits: TokenLimits;
  /** When the token ends; `undefined`: never. */
  expiresAt: Date | undefined;
};

/** The agent of one node, authenticated by its certificate. */
export type AgentActor = {
  kind: 'agent';
  nodeId: NodeId;
  /** The node's name, which the agent has joined under. */
  name: string;
  organizationId: OrganizationId;
  clusterId: ClusterId;
};
