/** Expectations of a scenario: what a reader of the API would see of a volume, a node, a disk, the rebuilds or the events. */
import { z } from 'zod';
import { diskName, nodeName, tags, volumeName } from './given.js';
import { countSchema, sizeSchema } from './quantities.js';

const status = z
  .union([z.enum(['True', 'False', 'Unknown']), z.boolean()])
  .transform((value) => (typeof value === 'boolean' ? (value ? 'True' : 'False') : value));

const condition = z
  .union([
    status,
    z
      .strictObject({ status, reason: z.string(), message: z.string().describe('A part of its message.') })
      .partial(),
    z.null().describe('It has no such condition.'),
  ])
  .describe('A status, or status, reason and a part of the message; null: there is none.');

const conditions = z.record(z.string(), condition);
const perPlace = z.record(z.string(), countSchema);

/** Counts of a volume's copies, by mode or by state. */
const copies = z
  .strictObject({
    RW: countSchema,
    WO: countSchema,
    ERR: countSchema,
    healthy: countSchema.describe('Full copies, also of a detached volume.'),
    failed: countSchema,
    placed: countSchema.describe('Replicas that have a place.'),
    total: countSchema.describe('Replica objects.'),
  })
  .partial();

const rebuilds = {
  queued: countSchema,
  running: countSchema,
  active: countSchema.describe('Queued or running.'),
  started: countSchema.describe('Rebuilds since the start of the scenario.'),
  succeeded: countSchema,
  failed: countSchema,
  methods: z
    .array(z.enum(['full', 'delta', 'fast', 'ranges']))
    .describe('All methods that copied layers since the start, each named once.'),
  waitingFor: z.string().describe('A reason code of a rebuild that waits.'),
};

export const volumeExpectation = z.strictObject({
  volume: volumeName,
  exists: z.boolean().optional(),
  state: z.enum(['creating', 'detached', 'attaching', 'attached', 'detaching', 'deleting']).optional(),
  robustness: z.enum(['healthy', 'degraded', 'faulted', 'unknown']).optional(),
  attachedTo: nodeName.nullable().optional(),
  endpoint: z.boolean().optional().describe('Is there an address that users may connect to?'),
  size: sizeSchema.optional(),
  numberOfReplicas: z.int().optional(),
  attention: z
    .string()
    .nullable()
    .optional()
    .describe('Code of what it waits for a user with; null: nothing.'),
  task: z.string().nullable().optional().describe('The change of all layers under way, such as expand.'),
  conditions: conditions.optional(),
  copies: copies.optional(),
  healthyOn: z.array(nodeName).optional().describe('Nodes of its full copies, one entry for each copy.'),
  perNode: perPlace.optional().describe('Number of its full copies by node.'),
  perZone: perPlace.optional(),
  perDisk: perPlace.optional(),
  nothingOn: z.array(nodeName).optional().describe('Nodes that hold none of its replicas.'),
  replicasEver: countSchema.optional().describe('Replica objects since its start, those that are gone too.'),
  sameReplicas: z.boolean().optional().describe('True: its replicas are those that it had at the start.'),
  sameReplicaOn: nodeName.optional().describe("The node's replica is the one that was there at the start."),
  removedWasNamed: z
    .boolean()
    .optional()
    .describe('The API had named the replicas that are gone beforehand.'),
  userSnapshots: tags.optional().describe('Names of its user snapshots.'),
  systemSnapshots: countSchema.optional(),
  rebuilds: z.strictObject(rebuilds).partial().optional(),
  missingWrites: z.int().optional().describe('Acknowledged writes that it does not hold.'),
});

export const nodeExpectation = z.strictObject({
  node: nodeName,
  conditions: conditions.optional(),
  cordoned: z.boolean().optional(),
  evictionRequested: z.boolean().optional(),
  maintenance: z.boolean().optional(),
  autoEvicting: z.boolean().optional().describe('Does a drain replace its copies?'),
  drain: z.string().nullable().optional().describe('State of its drain; null: none.'),
  replicas: countSchema.optional(),
});

export const diskExpectation = z.strictObject({
  disk: diskName,
  conditions: conditions.optional(),
  replicas: countSchema.optional(),
});

export const rebuildsExpectation = z.strictObject({
  rebuilds: z
    .strictObject({
      ...rebuilds,
      perTargetNode: perPlace.describe('Running rebuilds by the node they write to.'),
      perSourceNode: perPlace.describe('Running rebuilds by a node they read from.'),
    })
    .partial(),
});

export const eventExpectation = z.strictObject({
  event: z.string().describe('Type of the event.'),
  volume: volumeName.optional(),
  count: countSchema.optional().describe('How often since the start; left out: at least once.'),
  message: z.string().optional().describe('A part of its message.'),
});

export const EXPECTATIONS = {
  rebuilds: rebuildsExpectation,
  event: eventExpectation,
  volume: volumeExpectation,
  node: nodeExpectation,
  disk: diskExpectation,
} as const;

export type VolumeExpectation = z.infer<typeof volumeExpectation>;
export type NodeExpectation = z.infer<typeof nodeExpectation>;
export type DiskExpectation = z.infer<typeof diskExpectation>;
export type RebuildsExpectation = z.infer<typeof rebuildsExpectation>;
export type EventExpectation = z.infer<typeof eventExpectation>;
export type ConditionExpectation = z.infer<typeof condition>;
export type Expectation =
  | VolumeExpectation
  | NodeExpectation
  | DiskExpectation
  | RebuildsExpectation
  | EventExpectation;
