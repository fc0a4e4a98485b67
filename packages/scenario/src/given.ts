/** The given of a scenario: cluster, settings and volumes as they are before its first step. */

import { GIB } from '@holdfast/core/model/bytes.js';
import { REPLICA_COUNT_MAX, REPLICA_COUNT_MIN } from '@holdfast/core/model/volume.js';
import {
  overrideBounds,
  overrideWords,
  VOLUME_OVERRIDES,
  type VolumeOverride,
  type VolumeOverrides,
} from '@holdfast/core/model/volume-overrides.js';
import { z } from 'zod';
import { sizeSchema } from './quantities.js';

export const name = z.string().min(1).max(128);
export const nodeName = name.describe('Name of a node.');
export const volumeName = name.describe('Name of a volume.');
/** A disk is named by its node and its own name, because disk names are unique on their node only. */
export const diskName = z
  .string()
  .regex(/^[^/]+\/[^/]+$/, 'write a disk as node/disk')
  .describe('A disk, as node/disk: `n1/disk-1`.');
const label = z.string().min(1).max(128);
export const tags = z.array(z.string().min(1)).max(32);

export const diskGiven = z.strictObject({
  name: name.optional().describe('Left out: disk-1, disk-2 and so on.'),
  size: sizeSchema.default(100 * GIB),
  type: z.enum(['filesystem', 'block']).default('filesystem'),
  tags: tags.default([]),
  storageReserved: sizeSchema.optional(),
  allowScheduling: z.boolean().optional(),
});

const nodeObject = z.strictObject({
  name: nodeName,
  zone: z.string().nullable().default(null),
  region: z.string().nullable().default(null),
  tags: tags.default([]),
  allowScheduling: z.boolean().optional(),
  cordoned: z.boolean().optional(),
  disks: z
    .array(diskGiven)
    .min(1)
    .max(16)
    .default([{ size: 100 * GIB, type: 'filesystem', tags: [] }]),
});

/** A node, or only its name. */
export const nodeGiven = z
  .union([nodeName, nodeObject])
  .transform((node) => (typeof node === 'string' ? nodeObject.parse({ name: node }) : node))
  .describe('A node: its name, or what differs from one disk of 100Gi without labels.');

const overrides = Object.fromEntries(
  VOLUME_OVERRIDES.map((override) => [override.field, overrideSchema(override).optional()]),
  // Each schema takes the values that the type of its field is made of, by the same definition.
) as { [Field in keyof VolumeOverrides]: z.ZodOptional<z.ZodType<VolumeOverrides[Field]>> };

function overrideSchema(override: VolumeOverride): z.ZodType<string | number> {
  const words = overrideWords(override);
  const least = Math.min(0, overrideBounds(override)?.min ?? 0);
  return words === undefined ? z.int().min(least) : z.enum(['ignored', ...words]);
}

const copies = z.int().min(REPLICA_COUNT_MIN).max(REPLICA_COUNT_MAX);

/** Fields of a volume that may be given and changed later. */
export const volumeSpec = {
  numberOfReplicas: copies.optional(),
  nodeSelector: tags.optional(),
  diskSelector: tags.optional(),
  dataLocality: z.enum(['disabled', 'best-effort', 'strict-local']).optional(),
  ...overrides,
};

export const newVolume = z.strictObject({
  name: volumeName,
  size: sizeSchema.default(GIB),
  dataEngine: z.enum(['v1', 'v2']).optional(),
  topologyRequirement: z
    .array(z.strictObject({ zone: label.optional(), region: label.optional() }))
    .optional(),
  ...volumeSpec,
});

export const volumeGiven = z.strictObject({
  ...newVolume.shape,
  attached: nodeName.optional().describe('The node it is attached to; left out: it is detached.'),
  copiesOn: z.array(nodeName).min(1).optional().describe('The nodes that its copies are on at the start.'),
  waits: z.boolean().optional().describe('True: the scenario begins although the volume is not ready.'),
});

export const settingsGiven = z.record(z.string(), z.union([z.boolean(), z.number(), z.string()]));

export const clusterGiven = z
  .strictObject({ nodes: z.array(nodeGiven).min(1).max(100) })
  .describe('Left out: nodes n1, n2 and n3 without labels, with one disk of 100Gi each.');

export type NodeGiven = z.infer<typeof nodeGiven>;
export type DiskGiven = z.infer<typeof diskGiven>;
export type VolumeGiven = z.infer<typeof volumeGiven>;
export type NewVolume = z.infer<typeof newVolume>;

/** Name of the disk in that place of its node's list. */
export function diskNameAt(disk: Pick<DiskGiven, 'name'>, index: number): string {
  return disk.name ?? `disk-${index + 1}`;
}

/** Three nodes with one disk of 100 GiB each: the cluster of a scenario that names none. */
export const BASE_CLUSTER: { readonly nodes: readonly NodeGiven[] } = {
  nodes: ['n1', 'n2', 'n3'].map((node) => nodeObject.parse({ name: node })),
};
