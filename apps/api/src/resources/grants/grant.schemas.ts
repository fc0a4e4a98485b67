import type { GrantId, OrganizationId } from '@holdfast/core/model/ids.js';
import type { GrantRow, ReceivedGrantRow } from '@holdfast/database/queries/grants.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { id, pageOf, time, uuid, version } from '../../http/schemas.js';
import { clusterIdInPath } from '../clusters/cluster.schemas.js';

const limit = z.int().min(0).nullable();
/** Same form as tags of nodes and disks. */
const tags = z.array(z.string().min(1).max(63)).max(20);

const provisionedBytes = limit.describe('Total size of the volumes there, in bytes; null: no limit.');
const volumes = limit.describe('Number of volumes there; null: no limit.');
const runningRebuilds = limit.describe(
  'Number of concurrent rebuilds of these volumes; further ones wait. Null: no limit of its own.',
);
const nodeTags = tags.describe(
  "Tags that a node must have to hold a copy, in addition to the volume's selector.",
);
const diskTags = tags.describe("Tags that a disk must have, in addition to the volume's selector.");

const granted = {
  id: uuid.describe('Id of the grant.'),
  clusterId: uuid.describe('Id of the cluster.'),
  ownerOrganizationId: uuid.describe('Id of the organization that owns the cluster.'),
  organizationId: uuid.describe('Id of the organization that may place volumes there.'),
  limits: z.object({ provisionedBytes, volumes, runningRebuilds }).describe('Upper limits.'),
  used: z
    .object({
      provisionedBytes: z
        .number()
        .min(0)
        .describe('Total size of the volumes there, in bytes; pending expansions included.'),
      volumes: z.int().min(0).describe('Number of volumes there, those being deleted included.'),
    })
    .describe('Present use; may exceed a limit that was lowered.'),
  nodeTags,
  diskTags,
  version,
  createdAt: time.describe('Time of its creation.'),
};

export const grantSchema = z.object(granted).meta({ id: 'Grant' });
export const receivedGrantSchema = z
  .object({ ...granted, clusterName: z.string().describe("The cluster's name, in its organization.") })
  .meta({ id: 'ReceivedGrant' });

export class GrantPath extends dto(
  z.object({ clusterId: clusterIdInPath, grantId: id<GrantId>().describe('Id of the grant.') }),
) {}
export class CreateGrantBody extends dto(
  z.strictObject({
    organizationId: id<OrganizationId>().describe('Id of the organization that may place volumes there.'),
    provisionedBytes: provisionedBytes.default(null),
    volumes: volumes.default(null),
    runningRebuilds: runningRebuilds.default(null),
    nodeTags: nodeTags.default([]),
    diskTags: diskTags.default([]),
  }),
) {}
export class PatchGrantBody extends dto(
  z.strictObject({
    provisionedBytes: provisionedBytes.optional(),
    volumes: volumes.optional(),
    runningRebuilds: runningRebuilds.optional(),
    nodeTags: nodeTags.optional(),
    diskTags: diskTags.optional(),
  }),
) {}
export class GrantDto extends dto(grantSchema) {}
export class GrantPage extends dto(pageOf(grantSchema, 'GrantList')) {}
export class ReceivedGrantPage extends dto(pageOf(receivedGrantSchema, 'ReceivedGrantList')) {}

export function grantView(grant: GrantRow): z.infer<typeof grantSchema> {
  const { nodeTags, diskTags, createdAt, ...rest } = grant;
  return { ...rest, nodeTags: [...nodeTags], diskTags: [...diskTags], createdAt: createdAt.toISOString() };
}

export function receivedGrantView(grant: ReceivedGrantRow): z.infer<typeof receivedGrantSchema> {
  return { ...grantView(grant), clusterName: grant.clusterName };
}
