import { nodeNameSchema } from '@holdfast/core/model/agent-protocol.js';
import type { JoinTokenId } from '@holdfast/core/model/ids.js';
import type { JoinToken } from '@holdfast/database/identity/join-tokens.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { id, isoOrNull, pageOf, time, uuid } from '../../http/schemas.js';
import { clusterIdInPath } from '../clusters/cluster.schemas.js';

/** Maximum number of new nodes per token: a leaked token could admit as many. */
const USES_MAX = 64;
const LIFE_MINUTES_MAX = 7 * 24 * 60;

export class CreateJoinTokenBody extends dto(
  z
    .strictObject({
      name: z.string().min(1).max(128).default('join token').describe('Name of the token.'),
      nodeName: nodeNameSchema
        .optional()
        .describe(
          'Name of the only node that may join. A known node joins again, and its old certificate is revoked. Left out: any node of a new name.',
        ),
      usesMax: z
        .number()
        .int()
        .min(1)
        .max(USES_MAX)
        .default(1)
        .describe('Maximum number of nodes of new names that may join; 1 if it names a node.'),
      lifeMinutes: z
        .number()
        .int()
        .min(1)
        .max(LIFE_MINUTES_MAX)
        .default(60)
        .describe('Minutes until it expires. Nodes that have joined with it stay.'),
    })
    .refine(({ nodeName, usesMax }) => nodeName === undefined || usesMax === 1, {
      path: ['usesMax'],
      message: 'must be 1 where the token names a node',
    }),
) {}

const joinTokenSchema = z
  .object({
    id: uuid.describe('Id of the join token; not its secret.'),
    clusterId: uuid.describe('Id of the cluster to join.'),
    name: z.string().describe('Name given at its creation.'),
    nodeName: z
      .string()
      .nullable()
      .describe('Name of the only node that may join; null: any node of a new name.'),
    uses: z.number().int().describe('Number of nodes that have joined with it.'),
    usesMax: z.number().int().describe('Maximum number of nodes that may join with it.'),
    expiresAt: time.nullable().describe('Expiry; null: never.'),
    createdAt: time.describe('Time of its creation.'),
  })
  .meta({ id: 'JoinToken' });

export type JoinTokenView = z.infer<typeof joinTokenSchema>;

export function joinTokenView(token: Omit<JoinToken, 'organizationId'>): JoinTokenView {
  const { id, clusterId, name, nodeName, uses, usesMax, expiresAt, createdAt } = token;
  return {
    id,
    clusterId,
    name,
    nodeName: nodeName ?? null,
    uses,
    usesMax,
    expiresAt: isoOrNull(expiresAt),
    createdAt: createdAt.toISOString(),
  };
}

export class NewJoinTokenDto extends dto(
  joinTokenSchema
    .extend({
      token: z
        .string()
        .describe(
          'For HOLDFAST_AGENT_TOKEN of the agent, with the fingerprint of this control plane; shown once.',
        ),
      apiUrl: z
        .string()
        .nullable()
        .describe('For HOLDFAST_API_URL of the agent: address of this API for agents. Null: not configured.'),
    })
    .meta({ id: 'NewJoinToken' }),
) {}
export class JoinTokenPage extends dto(pageOf(joinTokenSchema, 'JoinTokenList')) {}
export class JoinTokenPath extends dto(
  z.object({
    clusterId: clusterIdInPath,
    joinTokenId: id<JoinTokenId>().describe('Id of the join token.'),
  }),
) {}
