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
  size: z.int().min(1).max(VOLUME_BYTES_MAX).describe('Bytes that the disk holds.'),
  reserved: z
    .int()
    .min(0)
    .max(VOLUME_BYTES_MAX)
    .optional()
    .describe('Bytes to keep free of replicas; left out: 0.'),
  type: z.enum(['filesystem', 'block']).optional().describe('Left out: `filesystem`.'),
  tags: tags.optional().describe("What volumes' disk selectors may ask for; left out: none."),
});

const addedNode = z.strictObject({
  name: name.describe('Name of the node; further ones get `-2`, `-3` … behind it.'),
  zone: name.optional().describe('Zone of the node; left out: no zone label.'),
  tags: tags.optional().describe("What volumes' node selectors may ask for; left out: none."),
  disks: z.array(addedDisk).max(ADDED_DISKS_PER_NODE_MAX).describe('The disks of each such node.'),
  count: z.int().min(1).max(ADDED_NODES_MAX).optional().describe('Number of nodes alike; left out: 1.'),
});

const disksForNode = addedDisk.extend({
  node: name.describe('The node that gets the disk, by name or id.'),
  count: z.int().min(1).max(ADDED_DISKS_MAX).optional().describe('Number of disks alike; left out: 1.'),
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
  .describe('New nodes with their disks, and new disks for nodes that are there.');

const lose = z
  .strictObject({
    nodes: names.optional().describe('Nodes that are gone, by name or id.'),
    zones: names.optional().describe('Zones of which all nodes are gone, by name.'),
    disks: names.optional().describe('Disks that are gone, by id or as node/disk.'),
  })
  .describe('What the cluster loses before anything is placed.');

const drainedNode = z.strictObject({
  node: name.describe('The node, by name or id.'),
  policy: z
    .enum(DRAIN_POLICIES)
    .optional()
    .describe("When it may be switched off; left out: as the cluster's setting `node-drain-policy` says."),
});

export class SimulateBody extends dto(
  z.strictObject({
    volumes: z
      .array(shape)
      .max(SHAPES_MAX)
      .optional()
      .describe('Kinds of new volumes, and how many of each.'),
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
      .describe('Values that settings would have, by name.'),
    howManyMore: z.boolean().optional().describe('Also count how many more of each kind would fit.'),
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
    capacityBytes: z.int().describe('Bytes that its disks hold, less what they reserve.'),
    scheduledBytes: z.int().describe('Bytes booked on its disks.'),
  })
  .meta({ id: 'Fill' });
const ofVolume = {
  volumeId: uuid.describe('Id of the volume.'),
  volumeName: z.string().describe("The volume's name."),
};
const zone = z.string().nullable().describe('Name of the zone; null: nodes without a zone label.');
const before = fill.nullable().describe('As it is now; null: it is not there yet.');
const after = fill.nullable().describe('As it would be; null: it would be gone.');

function shown<Item extends z.ZodType>(item: Item) {
  return z.object({
    total: count.describe('How many there are, listed or not.'),
    shown: z.array(item).describe('The first of them, up to a bound.'),
  });
}

const shapeResult = z
  .object({
    shape: count.describe("Which of the request's `volumes` this is, from 0."),
    sizeBytes: count.describe('Size of each volume, in bytes.'),
    numberOfReplicas: count.describe('Copies that each volume wants.'),
    asked: count.describe('Number of volumes that were asked for.'),
    fit: count.describe('Number of those for which every copy has a place.'),
    placed: z
      .array(
        z.object({
          number: count.describe('Which of the volumes alike, from 1.'),
          places: z.array(namedPlaceSchema).describe('A place for each copy.'),
        }),
      )
      .describe(`The first ${PLACEMENTS_SHOWN_MAX} volumes that fit.`),
    firstFailure: z
      .object({
        volumeNumber: count.describe('Which of the volumes alike, from 1.'),
        replicaNumber: count.describe('Which of its copies has no place, from 1.'),
        explanation: placementExplanationSchema.describe('Why that copy has no place, and what would help.'),
      })
      .nullable()
      .describe('The first volume that does not fit; null when all do.'),
    howManyMore: z
      .object({
        count: count.describe('Number of further volumes alike that would fit.'),
        isAtLeast: z.boolean().describe('True: counting stopped at its bound, and more would fit.'),
        limitedBy: z
          .string()
          .nullable()
          .describe('Why not one more; null when counting stopped at its bound.'),
      })
      .nullable()
      .describe('How many more would fit afterwards; null unless asked for.'),
  })
  .meta({ id: 'ShapeResult' });

const forecastSchema = z
  .object({
    time: timeRangeSchema
      .nullable()
      .describe('Until the last copy that can be built is built; null: none is built.'),
    rebuilds: count.describe('Number of copies that are built.'),
    bytesToMove: count.describe('Bytes that are copied for them.'),
    volumesLost: count.describe('Number of volumes of which no full copy is left.'),
    volumesDegraded: count.describe(
      'Number of volumes that have fewer copies than they want at some time; the lost ones are left out.',
    ),
    volumesUnschedulable: count.describe(
      'Number of volumes that lack a copy in the end, since no disk takes it.',
    ),
    volumesWaiting: count.describe(
      'Number of volumes that lack a copy or their engine in the end, and wait for a user or for a node.',
    ),
    lowWater: z
      .object({
        copies: count.describe('Full copies that can be read.'),
        volumes: count.describe('Number of volumes that come to so few.'),
      })
      .nullable()
      .describe('The fewest copies that any volume comes to; null: the change concerns no volume.'),
    volumes: shown(
      z.object({
        ...ofVolume,
        end: z
          .enum(['full', 'lost', 'unschedulable', 'waiting'])
          .describe(
            '`full`: it comes to all its copies; `lost`: no full copy is left; `unschedulable`: no disk takes a copy; ' +
              '`waiting`: for a user or for a node.',
          ),
        why: z.string().nullable().describe('Why it does not come to all its copies; null when it does.'),
        copiesWanted: count.describe('Copies that it wants.'),
        copiesNow: count.describe('Full copies that can be read: as it is now.'),
        copiesAtLowest: count.describe('The fewest of them from the change on.'),
        copiesAtEnd: count.describe('Those in the end.'),
        bytesToMove: count.describe('Bytes that are copied for it.'),
      }),
    ).describe(
      `The first ${FORECAST_SHOWN_MAX} volumes that the change or an earlier loss concerns, the worst first.`,
    ),
    firstUnschedulable: placementExplanationSchema
      .nullable()
      .describe(
        'Why a copy of the first volume without a place fits nowhere, and what would help; null: all have a place.',
      ),
    isCut: z.boolean().describe('A bound ended the forecast: it takes longer, and counts may be higher.'),
  })
  .meta({ id: 'Forecast' });

export const simulationSchema = z
  .object({
    sentence: z.string().describe('The whole answer in one plain sentence.'),
    allFit: z
      .boolean()
      .describe('Every volume asked for fits, and no existing copy is left without a place.'),
    shapes: z.array(shapeResult).describe("One for each of the request's `volumes`, in its order."),
    existing: z
      .object({
        volumesHit: count.describe('Number of volumes that lose a copy.'),
        replicasLost: count.describe('Number of copies that are lost.'),
        replicasStranded: count.describe('Number of those that fit nowhere else.'),
        volumesLost: count.describe('Number of volumes that lose every full copy.'),
        replaced: shown(
          z.object({
            ...ofVolume,
            replicaId: uuid.describe('The copy that is lost.'),
            place: namedPlaceSchema.describe('Where it would be built anew.'),
          }),
        ).describe('Lost copies that would get another place.'),
        stranded: shown(
          z.object({
            ...ofVolume,
            replicaId: uuid.describe('The copy that is lost.'),
            why: z.string().describe('Why it fits nowhere, in a sentence.'),
          }),
        ).describe('Lost copies that fit nowhere else.'),
        firstStranded: placementExplanationSchema
          .nullable()
          .describe('Why the first of them fits nowhere, and what would help; null when all fit.'),
        lostVolumes: shown(z.object(ofVolume)).describe('Volumes that lose every full copy.'),
      })
      .describe('What becomes of volumes that are there. Numbers count all; lists those the caller may see.'),
    zones: z.array(z.object({ zone, before, after })).describe('How full each zone gets.'),
    nodes: shown(
      z.object({
        nodeId: z.string().describe('Id of the node; no UUID for a node that the simulation adds.'),
        nodeName: z.string().describe("The node's name."),
        zone: zone.describe("The node's zone; null: it has no zone label."),
        before,
        after,
      }),
    ).describe('How full each node gets, the fullest first.'),
    lost: z
      .object({
        nodes: count.describe('Number of nodes.'),
        disks: count.describe('Number of disks, with those of lost nodes.'),
      })
      .describe('What the request took away.'),
    forecast: forecastSchema.describe(
      'What the change comes to, in numbers of all volumes and lists of those that the caller may see. Drained nodes count as on.',
    ),
  })
  .meta({ id: 'Simulation' });

export class SimulationDto extends dto(simulationSchema) {}

/** Core's own data is sent as it is. This does not compile when it and the schema part. */
export function simulationView(result: WhatIfResult): DeepReadonly<z.infer<typeof simulationSchema>> {
  return result;
}
