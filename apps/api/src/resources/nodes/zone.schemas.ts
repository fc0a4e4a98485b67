import type { ZoneSummary } from '@holdfast/database/queries/zones.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { pageOf } from '../../http/schemas.js';
import { storageSchema } from '../clusters/cluster.schemas.js';

const count = z.int().min(0);

const zoneSchema = z
  .object({
    zone: z.string().nullable().describe('Name of the zone; null: the nodes without a label.'),
    region: z.string().nullable().describe('Region of the zone; null: no label.'),
    nodes: z
      .object({
        total: count.describe('All nodes.'),
        notReady: count.describe('Nodes that are not ready: unreachable.'),
        unanswering: count.describe(
          'Other unreachable nodes, which become not ready after `agent-heartbeat-timeout`.',
        ),
        draining: count.describe('Other nodes whose drain has not ended.'),
        drained: count.describe('Other nodes whose drain has ended.'),
        cordoned: count.describe('Other nodes that are cordoned.'),
        inMaintenance: count.describe('Other nodes with an open maintenance window.'),
        closed: count.describe('Other nodes on which scheduling is off.'),
        open: count.describe('Other nodes, which accept new replicas.'),
      })
      .describe('Number of nodes; beside the total, each counts once.'),
    disks: count.describe('Number of disks of its nodes.'),
    storage: storageSchema.describe('Space of these disks, in bytes.'),
    replicas: z
      .object({
        total: count.describe('Number of all of them.'),
        silent: count.describe('Those on unreachable nodes.'),
        failed: count.describe('Others that have failed.'),
        rebuilding: count.describe('Others that are being rebuilt.'),
      })
      .describe('Number of replicas on these disks that the caller may see.'),
  })
  .meta({ id: 'Zone' });

export function zoneView({ zone, region, ...sums }: ZoneSummary): z.infer<typeof zoneSchema> {
  return {
    zone: zone ?? null,
    region: region ?? null,
    nodes: { ...sums.nodes },
    disks: sums.disks,
    storage: sums.storage,
    replicas: { ...sums.replicas },
  };
}

export class ZonePage extends dto(pageOf(zoneSchema, 'ZoneList')) {}
