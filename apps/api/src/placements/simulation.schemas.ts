import { VOLUME_BYTES_MAX } from '@holdfast/core/model/bytes.js';
import {
  ADDED_DISKS_MAX,
  ADDED_DISKS_PER_NODE_MAX,
  ADDED_NODES_MAX,
  LOSSES_MAX,
  SHAPES_MAX,
  type SimulationRequest,
  type SimulationResult,
  VOLUMES_MAX,
} from '@holdfast/core/scheduling/simulation/simulation.js';
import { z } from 'zod';
import { dto } from '../platform/dto.js';
import { type DeepReadonly, uuid } from '../platform/schemas.js';
import { changeable, sizeSchema } from '../volumes/volume.schemas.js';
import { namedPlaceSchema, placementExplanationSchema } from './explanation.schemas.js';

const NAME_LENGTH_MAX = 253;
/** More settings than there are. */
const SETTINGS_MAX = 100;

const name = z.string().min(1).max(NAME_LENGTH_MAX);
const names = z.array(name).max(LOSSES_MAX);
const tags = z.array(z.string().min(1).max(128)).max(32);

const shape = z.strictObject({
  count: z.int().min(1).max(VOLUMES_MAX),
  size: sizeSchema,
  dataEngine: z.enum(['v1', 'v2']).optional(),
  ...z.object(changeable).partial().shape,
});

const addedDisk = z.strictObject({
  size: z.int().min(1).max(VOLUME_BYTES_MAX),
  reserved: z.int().min(0).max(VOLUME_BYTES_MAX).optional(),
  type: z.enum(['filesystem', 'block']).optional(),
  tags: tags.optional(),
});

const addedNode = z.strictObject({
  name,
  zone: name.optional(),
  tags: tags.optional(),
  disks: z.array(addedDisk).max(ADDED_DISKS_PER_NODE_MAX),
  count: z.int().min(1).max(ADDED_NODES_MAX).optional(),
});

const disksForNode = addedDisk.extend({
  node: name.describe('By name or id.'),
  count: z.int().min(1).max(ADDED_DISKS_MAX).optional(),
});

const add = z
  .strictObject({
    nodes: z.array(addedNode).max(ADDED_NODES_MAX).optional(),
    disks: z.array(disksForNode).max(ADDED_DISKS_MAX).optional(),
  })
  .describe('New nodes with their disks, and new disks for nodes that are there.');

const lose = z
  .strictObject({ nodes: names.optional(), zones: names.optional(), disks: names.optional() })
  .describe('Nodes by name or id, disks by id or as node/disk.');

export class SimulateBody extends dto(
  z.strictObject({
    volumes: z
      .array(shape)
      .max(SHAPES_MAX)
      .optional()
      .describe('Kinds of new volumes, and how many of each.'),
    lose: lose.optional(),
    add: add.optional(),
    settings: z
      .record(
        z.string().max(NAME_LENGTH_MAX),
        z.union([z.boolean(), z.number(), z.string().max(NAME_LENGTH_MAX)]),
      )
      .refine((settings) => Object.keys(settings).length <= SETTINGS_MAX, `at most ${SETTINGS_MAX} settings`)
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
const fill = z.object({ capacityBytes: z.int(), scheduledBytes: z.int() }).meta({ id: 'Fill' });
const ofVolume = { volumeId: uuid, volumeName: z.string() };

function shown<Item extends z.ZodType>(item: Item) {
  return z.object({ total: count, shown: z.array(item) });
}

const shapeResult = z
  .object({
    shape: count.describe('Place in the request, from 0.'),
    sizeBytes: count,
    numberOfReplicas: count,
    asked: count,
    fit: count,
    placed: z.array(z.object({ number: count, places: z.array(namedPlaceSchema) })),
    firstFailure: z
      .object({ volumeNumber: count, replicaNumber: count, explanation: placementExplanationSchema })
      .nullable(),
    howManyMore: z
      .object({ count, isAtLeast: z.boolean(), limitedBy: z.string().nullable() })
      .nullable()
      .describe('Null unless asked for.'),
  })
  .meta({ id: 'ShapeResult' });

export const simulationSchema = z
  .object({
    sentence: z.string().describe('The whole answer in one plain sentence.'),
    allFit: z
      .boolean()
      .describe('Every volume asked for fits, and no existing copy is left without a place.'),
    shapes: z.array(shapeResult),
    existing: z.object({
      volumesHit: count,
      replicasLost: count,
      replicasStranded: count,
      volumesLost: count,
      replaced: shown(z.object({ ...ofVolume, replicaId: uuid, place: namedPlaceSchema })),
      stranded: shown(z.object({ ...ofVolume, replicaId: uuid, why: z.string() })),
      firstStranded: placementExplanationSchema.nullable(),
      lostVolumes: shown(z.object(ofVolume)),
    }),
    zones: z.array(
      z.object({ zone: z.string().nullable(), before: fill.nullable(), after: fill.nullable() }),
    ),
    nodes: shown(
      z.object({
        nodeId: z.string(),
        nodeName: z.string(),
        zone: z.string().nullable(),
        before: fill.nullable(),
        after: fill.nullable(),
      }),
    ),
    lost: z.object({ nodes: count, disks: count }),
  })
  .meta({ id: 'Simulation' });

export class SimulationDto extends dto(simulationSchema) {}

/** Core's own data is sent as it is. This does not compile when it and the schema part. */
export function simulationView(result: SimulationResult): DeepReadonly<z.infer<typeof simulationSchema>> {
  return result;
}
