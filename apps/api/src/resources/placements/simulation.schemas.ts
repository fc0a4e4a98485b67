import type { WhatIfResult } from '@holdfast/core/forecast/answer-what-if.js';
import { FORECAST_SHOWN_MAX } from '@holdfast/core/forecast/forecast.js';
import { VOLUME_BYTES_MAX } from '@holdfast/core/model/bytes.js';
import { DRAIN_POLICIES } from '@holdfast/core/model/node-drain.js';
import {
  ADDED_DISKS_MAX,
  ADDED_DISKS_PER_NODE_MAX,
  ADDED_NODES_MAX,
  DRAINS_MAX,
  LOSSES_MAX,
  PLACEMENTS_SHOWN_MAX,
  SHAPES_MAX,
  type SimulationRequest,
  VOLUMES_MAX,
} from '@holdfast/core/scheduling/simulation/simulation.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { type DeepReadonly, uuid } from '../../http/schemas.js';
import { timeRangeSchema } from '../rebuilds/time-range.schema.js';
import { namedPlaceSchema, placementExplanationSchema } from '../volumes/explanation.schemas.js';
import { changeable, dataEngine, sizeSchema } from '../volumes/volume.schemas.js';

const NAME_LENGTH_MAX = 253;
/** More settings than there are. */
const SETTINGS_MAX = 100;

const name = z.string().min(1).max(NAME_LENGTH_MAX);
const names = z.array(name).max(LOSSES_MAX);
const tags = z.array(z.string().min(1).max(128)).max(32);

const shape = z.strictObject({
  count: z.int().min(1).max(VOLUMES_MAX).describe('Number of volumes of this kind.'),
  size: sizeSchema,
  dataEngine: dataEngine.optional(),
  ...z.object(changeable).partial().shape,
});

const addedDisk = z.strictObject({
  size: z.int().min(1).max(VOLUME_BYTES_MAX).describe('Size of the disk, in bytes.'),
  reserved: z
    .int()
    .min(0)
    .max(VOLUME_BYTES_MAX)
    .optional()
    .describe('Bytes to keep free of replicas; left out: 0.'),
  type: z.enum(['filesystem', 'block']).optional().describe('Left out: `filesystem`.'),
  tags: tags.optional().describe("Tags for volumes' disk selectors; left out: none."),
});

const addedNode = z.strictObject({
  name: name.describe('Name of the node; further ones get the suffixes `-2`, `-3` …'),
  zone: name.optional().describe('Zone of the node; left out: no zone label.'),
  tags: tags.optional().describe("Tags for volumes' node selectors; left out: none."),
  disks: z.array(addedDisk).max(ADDED_DISKS_PER_NODE_MAX).describe('The disks of each such node.'),
  count: z.int().min(1).max(ADDED_NODES_MAX).optional().describe('Number of such nodes; left out: 1.'),
});

const disksForNode = addedDisk.extend({
  node: name.describe('The node that gets the disk, by name or id.'),
  count: z.int().min(1).max(ADDED_DISKS_MAX).optional().describe('Number of such disks; left out: 1.'),
});

const add = z
  .strictObject({
    nodes: z.array(addedNode).max(ADDED_NODES_MAX).optional().describe('New nodes, empty and ready.'),
    disks: z
      .array(disksForNode)
      .max(ADDED_DISKS_MAX)
      .optional()
      .describe('New disks, empty and ready, for nodes of the cluster.'),
  })
  .describe('New nodes with their disks, and new disks for existing nodes.');

const lose = z
  .strictObject({
    nodes: names.optional().describe('Lost nodes, by name or id.'),
    zones: names.optional().describe('Zones whose nodes are all lost, by name.'),
    disks: names.optional().describe('Lost disks, by id or as node/disk.'),
  })
  .describe('Losses of the cluster before anything is placed.');

const drainedNode = z.strictObject({
  node: name.describe('The node, by name or id.'),
  policy: z
    .enum(DRAIN_POLICIES)
    .optional()
    .describe("When it may be switched off; left out: as the cluster's setting `node-drain-policy` says."),
});

export class SimulateBody extends dto(
  z.strictObject({
    volumes: z.array(shape).max(SHAPES_MAX).optional().describe('Kinds of new volumes, with their numbers.'),
    lose: lose.optional(),
    add: add.optional(),
    drain: z.array(drainedNode).max(DRAINS_MAX).optional().describe('Nodes that are drained.'),
    settings: z
      .record(
        z.string().max(NAME_LENGTH_MAX),
        z.union([z.boolean(), z.number(), z.string().max(NAME_LENGTH_MAX)]),
      )
      .refine(
        (settings) => Object.keys(settings).length <= SETTINGS_MAX,
        `must have at most ${SETTINGS_MAX} settings`,
      )
      .optional()
      .describe('Assumed values of settings, by name.'),
    howManyMore: z.boolean().optional().describe('True: also count how many more of each kind fit.'),
  }),
) {}

/** Sizes have REST's names outside and core's inside. */
export function simulationRequest({ volumes, add: added, ...rest }: SimulateBody): SimulationRequest {
  return {
    ...rest,
    volumes: volumes?.map(({ size, ...spec }) => ({ ...spec, sizeBytes: size })),
    add: {
      nodes: added?.nodes?.map(({ disks, ...node }) => ({ ...node, disks: disks.map(withSizeBytes) })),
      disks: added?.disks?.map(withSizeBytes),
    },
  };
}

function withSizeBytes<Disk extends z.infer<typeof addedDisk>>({ size, reserved, ...disk }: Disk) {
  return { ...disk, sizeBytes: size, reservedBytes: reserved };
}

const count = z.int().min(0);
const fill = z
  .object({
    capacityBytes: z.int().describe('Size of its disks less their reserved space, in bytes.'),
    scheduledBytes: z.int().describe('Bytes booked on its disks.'),
  })
  .meta({ id: 'Fill' });
const ofVolume = {
  volumeId: uuid.describe('Id of the volume.'),
  volumeName: z.string().describe("The volume's name."),
};
const zone = z.string().nullable().describe('Name of the zone; null: nodes without a zone label.');
const before = fill.nullable().describe('Present value; null: it does not exist yet.');
const after = fill.nullable().describe('Value after the change; null: it would be gone.');

function shown<Item extends z.ZodType>(item: Item) {
  return z.object({
    total: count.describe('Number of all items, listed or not.'),
    shown: z.array(item).describe('The first items, up to a limit.'),
  });
}

const shapeResult = z
  .object({
    shape: count.describe("Index in the request's `volumes`, from 0."),
    sizeBytes: count.describe('Size of each volume, in bytes.'),
    numberOfReplicas: count.describe('Desired number of copies of each volume.'),
    asked: count.describe('Number of requested volumes.'),
    fit: count.describe('Number of those with a place for every copy.'),
    placed: z
      .array(
        z.object({
          number: count.describe('Number of the volume within its kind, from 1.'),
          places: z.array(namedPlaceSchema).describe('A place for each copy.'),
        }),
      )
      .describe(`The first ${PLACEMENTS_SHOWN_MAX} volumes that fit.`),
    firstFailure: z
      .object({
        volumeNumber: count.describe('Number of the volume within its kind, from 1.'),
        replicaNumber: count.describe('Number of its copy without a place, from 1.'),
        explanation: placementExplanationSchema.describe('Reason why that copy has no place, with remedies.'),
      })
      .nullable()
      .describe('The first volume that does not fit; null when all do.'),
    howManyMore: z
      .object({
        count: count.describe('Number of further such volumes that would fit.'),
        isAtLeast: z.boolean().describe('True: counting stopped at its limit, and more would fit.'),
        limitedBy: z
          .string()
          .nullable()
          .describe('Reason why no further one fits; null: counting stopped at its limit.'),
      })
      .nullable()
      .describe('Number of further volumes that would fit; null unless requested.'),
  })
  .meta({ id: 'ShapeResult' });

const forecastSchema = z
  .object({
    time: timeRangeSchema.nullable().describe('Time until the last rebuild has ended; null: none runs.'),
    rebuilds: count.describe('Number of rebuilt copies.'),
    bytesToMove: count.describe('Bytes to copy for them.'),
    volumesLost: count.describe('Number of volumes left without a full copy.'),
    volumesDegraded: count.describe(
      'Number of volumes that have fewer copies than desired at some time; lost ones do not count.',
    ),
    volumesUnschedulable: count.describe(
      'Number of volumes that lack a copy in the end, since no disk fits.',
    ),
    volumesWaiting: count.describe(
      'Number of volumes that lack a copy or their engine in the end, and wait for a user or for a node.',
    ),
    lowWater: z
      .object({
        copies: count.describe('Number of readable full copies.'),
        volumes: count.describe('Number of volumes reduced to it.'),
      })
      .nullable()
      .describe('The lowest number of copies of any volume; null: no volume is affected.'),
    volumes: shown(
      z.object({
        ...ofVolume,
        end: z
          .enum(['full', 'lost', 'unschedulable', 'waiting'])
          .describe(
            '`full`: it has all its copies; `lost`: no full copy is left; `unschedulable`: no disk fits a copy; ' +
              '`waiting`: for a user or for a node.',
          ),
        why: z.string().nullable().describe('Reason why it lacks copies; null: it has all.'),
        copiesWanted: count.describe('Desired number of copies.'),
        copiesNow: count.describe('Present number of readable full copies.'),
        copiesAtLowest: count.describe('The lowest number after the change.'),
        copiesAtEnd: count.describe('Number in the end.'),
        bytesToMove: count.describe('Bytes to copy for it.'),
      }),
    ).describe(
      `The first ${FORECAST_SHOWN_MAX} volumes affected by the change or an earlier loss, the worst first.`,
    ),
    firstUnschedulable: placementExplanationSchema
      .nullable()
      .describe(
        'Reason why a copy of the first such volume fits nowhere, with remedies; null: all have a place.',
      ),
    isCut: z
      .boolean()
      .describe('True: a limit ended the forecast; it takes longer, and counts may be higher.'),
  })
  .meta({ id: 'Forecast' });

export const simulationSchema = z
  .object({
    sentence: z.string().describe('The whole answer in one plain sentence.'),
    allFit: z
      .boolean()
      .describe('True: every requested volume fits, and no existing copy is left without a place.'),
    shapes: z.array(shapeResult).describe("One for each of the request's `volumes`, in its order."),
    existing: z
      .object({
        volumesHit: count.describe('Number of volumes that lose a copy.'),
        replicasLost: count.describe('Number of copies that are lost.'),
        replicasStranded: count.describe('Number of lost copies that fit nowhere else.'),
        volumesLost: count.describe('Number of volumes that lose every full copy.'),
        replaced: shown(
          z.object({
            ...ofVolume,
            replicaId: uuid.describe('Id of the lost copy.'),
            place: namedPlaceSchema.describe('Place of its replacement.'),
          }),
        ).describe('Lost copies with a place for their replacement.'),
        stranded: shown(
          z.object({
            ...ofVolume,
            replicaId: uuid.describe('Id of the lost copy.'),
            why: z.string().describe('Reason why it fits nowhere, in a sentence.'),
          }),
        ).describe('Lost copies that fit nowhere else.'),
        firstStranded: placementExplanationSchema
          .nullable()
          .describe('Reason why the first of them fits nowhere, with remedies; null: all fit.'),
        lostVolumes: shown(z.object(ofVolume)).describe('Volumes that lose every full copy.'),
      })
      .describe(
        'Effects on existing volumes. Numbers count all; lists contain those that the caller may see.',
      ),
    zones: z.array(z.object({ zone, before, after })).describe('Utilization of each zone.'),
    nodes: shown(
      z.object({
        nodeId: z.string().describe('Id of the node; no UUID for a node that the simulation adds.'),
        nodeName: z.string().describe("The node's name."),
        zone: zone.describe("The node's zone; null: it has no zone label."),
        before,
        after,
      }),
    ).describe('Utilization of each node, the fullest first.'),
    lost: z
      .object({
        nodes: count.describe('Number of nodes.'),
        disks: count.describe('Number of disks, those of lost nodes included.'),
      })
      .describe('Hardware removed by the request.'),
    forecast: forecastSchema.describe(
      'Forecast of the change: numbers of all volumes, lists of those that the caller may see. Drained nodes count as on.',
    ),
  })
  .meta({ id: 'Simulation' });

export class SimulationDto extends dto(simulationSchema) {}

/** Core's own data is sent unchanged. This does not compile if it and the schema differ. */
export function simulationView(result: WhatIfResult): DeepReadonly<z.infer<typeof simulationSchema>> {
  return result;
}
