import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { uuid } from '../../http/schemas.js';

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const count = z.int().min(0);

const NODES_MAX = 50;

const replicaCountsQuerySchema = z.object({
  nodeIds: z
    .string()
    .regex(
      new RegExp(`^${UUID}(,${UUID}){0,${NODES_MAX - 1}}$`, 'i'),
      `must be up to ${NODES_MAX} ids of nodes with commas between them`,
    )
    .optional()
    .describe(
      `Counts on these nodes only: up to ${NODES_MAX} ids with commas between them. Left out: on all nodes.`,
    ),
});

const replicaCountsSchema = z
  .object({
    disks: z
      .array(
        z.object({
          diskId: uuid.describe('Id of the disk.'),
          total: count.describe('Replicas on it.'),
          failed: count.describe('Replicas on it that have failed.'),
          rebuilding: count.describe('Replicas on it that are being rebuilt.'),
        }),
      )
      .describe('Every disk with a replica that the caller may see.'),
    nodes: z
      .array(
        z.object({
          nodeId: uuid.describe('Id of the node.'),
          attached: count.describe('Volumes it serves.'),
        }),
      )
      .describe('Every node that serves a volume which the caller may see.'),
    unplaced: count.describe('Replicas without a place.'),
  })
  .meta({ id: 'ReplicaCounts' });

export class ReplicaCountsDto extends dto(replicaCountsSchema) {}
export class ReplicaCountsQuery extends dto(replicaCountsQuerySchema) {}
