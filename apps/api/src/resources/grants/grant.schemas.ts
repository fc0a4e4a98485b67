import type { GrantId, OrganizationId } from '@holdfast/core/model/ids.js';
import type { GrantRow, ReceivedGrantRow } from '@holdfast/database/queries/grants.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { id, pageOf, time, uuid, version } from '../../http/schemas.js';
import { clusterIdInPath } from '../clusters/cluster.schemas.js';

const limit = z.int().min(0).nullable();
/** As tags of nodes and disks are. */
const tags = z.array(z.string().min(1).max(63)).max(20);

const provisionedBytes = limit.describe('Bytes of the volumes there as users see them; null: no limit.');
const volumes = limit.describe('Number of volumes there; null: no limit.');
const runningRebuilds = limit.describe(
  'Number of rebuilds of these volumes that run at once; further ones wait. Null: no limit of its own.',
);
const nodeTags = tags.describe(
  'A copy goes to nodes only that have all of these, beside what its volume asks for.',
);
const diskTags = tags.describe('As `nodeTags`, of disks.');

const granted = {
  id: uuid.describe('Id of the grant.'),
  clusterId: uuid.describe('Id of the cluster.'),
  ownerOrganizationId: uuid.describe('Id of the organization whose cluster it is.'),
  organizationId: uuid.describe('Id of the organization whose volumes may be there.'),
  limits: z.object({ provisionedBytes, volumes, runningRebuilds }).describe('The most that may be used.'),
  used: z
    .object({
      provisionedBytes: z
        .number()
        .min(0)
        .describe('Bytes of the volumes there, those they grow to included.'),
      volumes: z.int().min(0).describe('Volumes there, those being deleted included.'),
    })
    .describe('What is used now; more than a limit that was lowered since, perhaps.'),
  nodeTags,
  diskTags,
  version,
  createdAt: time.describe('When it was made.'),
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
    organizationId: id<OrganizationId>().describe('Id of the organization whose volumes may be there.'),
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
