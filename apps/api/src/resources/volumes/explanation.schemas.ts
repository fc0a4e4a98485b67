import {
  CURES_SHOWN_MAX,
  type PlacementExplanation,
  REJECTIONS_SHOWN_MAX,
  SCORES_SHOWN_MAX,
} from '@holdfast/core/scheduling/explanation/explanation.js';
import { z } from 'zod';
import { type DeepReadonly, time, uuid } from '../../http/schemas.js';

const bytes = z.int();
const count = z.int();
const selector = z.array(z.string());
const value = z.union([z.boolean(), z.number(), z.string()]);
const nodeName = z.string().describe("The node's name.");
const diskName = z.string().describe("The disk's name.");
const zone = z.string().nullable().describe("The node's zone; null: it has no zone label.");

export const namedPlaceSchema = z
  .object({
    nodeId: z.string().describe('Id of the node; no UUID for a node that a simulation adds.'),
    nodeName,
    zone,
    diskId: z.string().describe('Id of the disk; no UUID for a disk that a simulation adds.'),
    diskName,
  })
  .describe('A disk with its node, by id and by name.')
  .meta({ id: 'NamedPlace' });

const filterReport = z
  .object({
    name: z.string().describe('Name of the rule, such as `disk-tags`.'),
    description: z
      .string()
      .optional()
      .describe('What it asks for, for people; absent in an explanation that an older version stored.'),
    subject: z.enum(['node', 'disk']).describe('What it judges: whole nodes, or single disks.'),
    applies: z.boolean().describe('False: it has nothing to say about this replica, and was not asked.'),
    asked: count.describe('Number of nodes or disks that it was asked about.'),
    rejected: count.describe('Number of those that it refused.'),
    reasons: z
      .array(
        z.object({
          reason: z.string().describe('Stable code of the reason.'),
          count: count.describe('How often it was given.'),
        }),
      )
      .describe('The most frequent first.'),
    rejections: z
      .array(
        z.object({
          nodeId: z.string().describe('Id of the refused node, or of the node of the refused disk.'),
          nodeName,
          diskId: z.string().nullable().describe('Id of the refused disk; null: the whole node was refused.'),
          diskName: z
            .string()
            .nullable()
            .describe('Name of the refused disk; null: the whole node was refused.'),
          reason: z.string().describe('Stable code of the reason.'),
          message: z.string().describe('The reason for people, with its numbers.'),
          numbers: z
            .object({
              requiredBytes: bytes.describe('Bytes that the replica needs.'),
              availableBytes: bytes.describe('Bytes that the disk can give.'),
              thresholdBytes: bytes.describe('Bytes that must stay free, or that may be booked at most.'),
            })
            .nullable()
            .describe('What the rule compared; null for rules that compare no space.'),
        }),
      )
      .describe(`At most ${REJECTIONS_SHOWN_MAX}: those that lack the fewest bytes first, then by name.`),
  })
  .meta({ id: 'FilterReport' });

const tierReport = z
  .object({
    name: z.string().describe('Name of the tier.'),
    description: z.string().describe('What the tier asks for, such as an unused node in an unused zone.'),
    nodes: count.describe('Number of nodes in it.'),
    candidates: count.describe('Number of their disks that passed every rule; 0 when it was not needed.'),
    outcome: z
      .enum(['won', 'no-node', 'no-disk', 'not-needed'])
      .describe(
        '`won`: the replica goes there; `no-node`: empty; `no-disk`: none of its disks passed; ' +
          '`not-needed`: a better tier won.',
      ),
  })
  .meta({ id: 'TierReport' });

const scoreParts = z
  .object({
    usableBeforeBytes: bytes.describe('Usable bytes of the candidate without the replica.'),
    usableAfterBytes: bytes.describe('Usable bytes of the candidate with the replica; may be negative.'),
    absolute: z.number().describe('How uneven usable bytes would get, as a number without unit.'),
    ratio: z.number().describe('How uneven the shares of usable bytes would get, without unit.'),
    score: z.number().describe('α · absolute + (1 − α) · ratio; lower is better.'),
  })
  .meta({ id: 'ScoreParts' });

/** Which of the fields a change has depends on its kind; the others are left out. */
const cureChange = z
  .object({
    kind: z.string().describe('What to do, as a stable code such as `uncordon-node` or `add-disk`.'),
    at: time.optional().describe('Until when to wait.'),
    replicaId: uuid.optional().describe('The failed replica that gives its place up then.'),
    nodeId: z.string().optional().describe('The node to change.'),
    nodeName: z.string().optional().describe("That node's name."),
    diskId: z.string().optional().describe('The disk to change.'),
    diskName: z.string().optional().describe("That disk's name."),
    zone: z.string().nullish().describe('The zone that a new node must be in; null: any zone will do.'),
    tags: selector.optional().describe('Tags to add to the node or disk, or to change in the selector.'),
    diskTags: selector.optional().describe('Tags that a new disk must have.'),
    diskType: z.string().optional().describe('`filesystem` or `block`: the type of a new disk.'),
    fileSystem: z
      .string()
      .nullish()
      .describe('The file system that a new disk must have; null: any will do.'),
    selector: z.string().optional().describe('The field of the volume to change.'),
    freeBytes: bytes.optional().describe('Bytes to delete on the file system of the disk; may be 0.'),
    releaseBytes: bytes.optional().describe('Nominal bytes of replicas to move off the disk; may be 0.'),
    fromBytes: bytes.optional().describe('Bytes that the disk reserves now.'),
    toBytes: bytes.optional().describe('Bytes that it may reserve at most.'),
    bytes: bytes.optional().describe('Size of a new disk, in bytes: the smallest that would do.'),
    field: z.string().optional().describe('The field of the volume to set.'),
    setting: z.string().optional().describe('The setting of the cluster to change.'),
    from: value.optional().describe('Its value now.'),
    to: value.optional().describe('The value to set.'),
  })
  .meta({ id: 'CureChange' });

const cure = z
  .object({
    sentence: z.string().describe('What to do, and where that leads.'),
    changes: z.array(cureChange).describe('One change; two where no single one would do.'),
    leadsTo: z
      .object({
        nodeId: z.string().nullable().describe('Id of the node; null for a node that is yet to be added.'),
        nodeName,
        zone,
        diskId: z.string().nullable().describe('Id of the disk; null for a disk that is yet to be added.'),
        diskName,
        tier: z.string().describe('Name of the tier that would win.'),
      })
      .describe('Where the replica would go.'),
  })
  .describe('A smallest change after which the replica has a place; the scheduler was run with it.')
  .meta({ id: 'Cure' });

export const placementExplanationSchema = z
  .object({
    sentence: z.string().describe('The whole answer in one plain sentence.'),
    outcome: z.enum(['placed', 'unplaced']).describe('Whether a place was found.'),
    replicaId: uuid.nullable().describe('The replica in question; null for one that does not exist yet.'),
    at: time.describe('When the scheduler was asked.'),
    asked: z
      .object({
        sizeBytes: bytes.describe('Nominal bytes of the replica.'),
        writtenBytes: bytes.describe('Bytes that it will hold at once; 0 for a new volume.'),
        dataEngine: z.enum(['v1', 'v2']).describe("The volume's data engine."),
        diskType: z.enum(['filesystem', 'block']).describe('The type of disk that this engine needs.'),
        nodeSelector: selector.describe('Tags that the node must have.'),
        diskSelector: selector.describe('Tags that the disk must have.'),
      })
      .describe('What was asked for.'),
    place: namedPlaceSchema.nullable().describe('Where it is or would go; null when it fits nowhere.'),
    tier: z.string().nullable().describe('Name of the tier that won; null when none did.'),
    filters: z
      .array(filterReport)
      .describe('In their order; each was asked about what those before it let pass.'),
    tiers: z.array(tierReport).describe('The anti-affinity tiers in the order in which they are tried.'),
    alpha: z
      .number()
      .describe('Weight of the absolute part in the scores, from 0 to 1: the setting `balance-alpha`.'),
    scores: z
      .array(
        namedPlaceSchema
          .extend({
            isChosen: z.boolean().describe('The replica is placed there.'),
            node: scoreParts.describe('Score of the node among the nodes.'),
            disk: scoreParts.describe("Score of the disk among that node's disks."),
          })
          .meta({ id: 'ScoredCandidate' }),
      )
      .describe(`At most ${SCORES_SHOWN_MAX}, the best first; empty when nothing fits.`),
    cures: z.array(cure).describe(`At most ${CURES_SHOWN_MAX}, the smallest first; empty when it is placed.`),
    cureSearch: z
      .object({
        tried: count.describe('Number of changes that the scheduler was run with.'),
        triedMax: count.describe('Number at which the search ends.'),
        isComplete: z.boolean().describe('False: the search ended early, and smaller cures may exist.'),
      })
      .describe('How far cures were looked for.'),
  })
  .meta({ id: 'PlacementExplanation' });

/** Core's own data is sent as it is. This does not compile when it and the schema part. */
export function explanationView(
  explanation: PlacementExplanation,
): DeepReadonly<z.infer<typeof placementExplanationSchema>> {
  return explanation;
}
