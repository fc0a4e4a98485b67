import type { PlacementExplanation } from '@holdfast/core/scheduling/explanation/explanation.js';
import { z } from 'zod';
import { type DeepReadonly, time, uuid } from '../platform/schemas.js';

const bytes = z.int();
const selector = z.array(z.string());
const value = z.union([z.boolean(), z.number(), z.string()]);

export const namedPlaceSchema = z
  .object({
    nodeId: z.string(),
    nodeName: z.string(),
    zone: z.string().nullable(),
    diskId: z.string(),
    diskName: z.string(),
  })
  .describe('Ids are no UUIDs where the place does not exist yet.')
  .meta({ id: 'NamedPlace' });

const filterReport = z
  .object({
    name: z.string(),
    subject: z.enum(['node', 'disk']),
    applies: z.boolean().describe('False: it has nothing to say about this replica.'),
    asked: z.int(),
    rejected: z.int(),
    reasons: z.array(z.object({ reason: z.string(), count: z.int() })),
    rejections: z.array(
      z.object({
        nodeId: z.string(),
        nodeName: z.string(),
        diskId: z.string().nullable(),
        diskName: z.string().nullable(),
        reason: z.string(),
        message: z.string(),
        numbers: z.object({ requiredBytes: bytes, availableBytes: bytes, thresholdBytes: bytes }).nullable(),
      }),
    ),
  })
  .meta({ id: 'FilterReport' });

const tierReport = z
  .object({
    name: z.string(),
    description: z.string(),
    nodes: z.int(),
    candidates: z.int(),
    outcome: z.enum(['won', 'no-node', 'no-disk', 'not-needed']),
  })
  .meta({ id: 'TierReport' });

const scoreParts = z
  .object({
    usableBeforeBytes: bytes,
    usableAfterBytes: bytes,
    absolute: z.number(),
    ratio: z.number(),
    score: z.number().describe('α · absolute + (1 − α) · ratio; lower is better.'),
  })
  .meta({ id: 'ScoreParts' });

/** Which of the fields a change has depends on its kind; the others are left out. */
const cureChange = z
  .object({
    kind: z.string(),
    at: time.optional(),
    replicaId: uuid.optional(),
    nodeId: z.string().optional(),
    nodeName: z.string().optional(),
    diskId: z.string().optional(),
    diskName: z.string().optional(),
    zone: z.string().nullish(),
    tags: selector.optional(),
    diskTags: selector.optional(),
    diskType: z.string().optional(),
    fileSystem: z.string().nullish().describe('Null: any will do.'),
    selector: z.string().optional(),
    freeBytes: bytes.optional(),
    releaseBytes: bytes.optional(),
    fromBytes: bytes.optional(),
    toBytes: bytes.optional(),
    bytes: bytes.optional(),
    field: z.string().optional(),
    setting: z.string().optional(),
    from: value.optional(),
    to: value.optional(),
  })
  .meta({ id: 'CureChange' });

const cure = z
  .object({
    sentence: z.string(),
    changes: z.array(cureChange),
    leadsTo: z.object({
      nodeId: z.string().nullable(),
      nodeName: z.string(),
      zone: z.string().nullable(),
      diskId: z.string().nullable(),
      diskName: z.string(),
      tier: z.string(),
    }),
  })
  .describe('A smallest change after which the replica has a place; the scheduler was run with it.')
  .meta({ id: 'Cure' });

export const placementExplanationSchema = z
  .object({
    sentence: z.string().describe('The whole answer in one plain sentence.'),
    outcome: z.enum(['placed', 'unplaced']),
    replicaId: uuid.nullable().describe('Null: a replica that does not exist yet.'),
    at: time,
    asked: z.object({
      sizeBytes: bytes,
      writtenBytes: bytes,
      dataEngine: z.enum(['v1', 'v2']),
      diskType: z.enum(['filesystem', 'block']),
      nodeSelector: selector,
      diskSelector: selector,
    }),
    place: namedPlaceSchema.nullable(),
    tier: z.string().nullable(),
    filters: z
      .array(filterReport)
      .describe('In their order; each was asked about what those before it let pass.'),
    tiers: z.array(tierReport),
    alpha: z.number(),
    scores: z.array(
      namedPlaceSchema
        .extend({ isChosen: z.boolean(), node: scoreParts, disk: scoreParts })
        .meta({ id: 'ScoredCandidate' }),
    ),
    cures: z.array(cure).describe('Smallest first.'),
    cureSearch: z.object({ tried: z.int(), triedMax: z.int(), isComplete: z.boolean() }),
  })
  .meta({ id: 'PlacementExplanation' });

/** Core's own data is sent as it is. This does not compile when it and the schema part. */
export function explanationView(
  explanation: PlacementExplanation,
): DeepReadonly<z.infer<typeof placementExplanationSchema>> {
  return explanation;
}
