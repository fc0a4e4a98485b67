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
      .describe('Requirement of the rule, for people; absent in an explanation stored by an older version.'),
    subject: z.enum(['node', 'disk']).describe('Subject of the rule: whole nodes, or single disks.'),
    applies: z.boolean().describe('False: the rule does not apply to this replica, and was not run.'),
    asked: count.describe('Number of nodes or disks that it checked.'),
    rejected: count.describe('Number of those that it refused.'),
    reasons: z
      .array(
        z.object({
          reason: z.string().describe('Stable code of the reason.'),
          count: count.describe('Number of refusals with this reason.'),
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
              requiredBytes: bytes.describe('Required bytes of the replica.'),
              availableBytes: bytes.describe('Available bytes of the disk.'),
              thresholdBytes: bytes.describe('Bytes that must stay free, or that may be booked at most.'),
            })
            .nullable()
            .describe('Compared sizes; null for rules that compare no space.'),
        }),
      )
      .describe(`At most ${REJECTIONS_SHOWN_MAX}: those that lack the fewest bytes first, then by name.`),
  })
  .meta({ id: 'FilterReport' });

const tierReport = z
  .object({
    name: z.string().describe('Name of the tier.'),
    description: z.string().describe('Requirement of the tier, such as an unused node in an unused zone.'),
    nodes: count.describe('Number of nodes in it.'),
    candidates: count.describe('Number of their disks that passed every rule; 0 if not needed.'),
    outcome: z
      .enum(['won', 'no-node', 'no-disk', 'not-needed'])
      .describe(
        '`won`: the replica is placed there; `no-node`: empty; `no-disk`: none of its disks passed; ' +
          '`not-needed`: a better tier won.',
      ),
  })
  .meta({ id: 'TierReport' });

const scoreParts = z
  .object({
    usableBeforeBytes: bytes.describe('Usable bytes of the candidate without the replica.'),
    usableAfterBytes: bytes.describe('Usable bytes of the candidate with the replica; may be negative.'),
    absolute: z.number().describe('Unevenness of usable bytes after the placement, without unit.'),
    ratio: z.number().describe('Unevenness of the shares of usable bytes after the placement, without unit.'),
    score: z.number().describe('α · absolute + (1 − α) · ratio; lower is better.'),
  })
  .meta({ id: 'ScoreParts' });

/** The fields of a change depend on its kind; the others are left out. */
const cureChange = z
  .object({
    kind: z.string().describe('Stable code of the change, such as `uncordon-node` or `add-disk`.'),
    at: time.optional().describe('Time to wait for.'),
    replicaId: uuid.optional().describe('Id of the failed replica that releases its place then.'),
    nodeId: z.string().optional().describe('Id of the node to change.'),
    nodeName: z.string().optional().describe("That node's name."),
    diskId: z.string().optional().describe('Id of the disk to change.'),
    diskName: z.string().optional().describe("That disk's name."),
    zone: z.string().nullish().describe('Required zone of a new node; null: any.'),
    tags: selector.optional().describe('Tags to add to the node or disk, or to change in the selector.'),
    diskTags: selector.optional().describe('Required tags of a new disk.'),
    diskType: z.string().optional().describe('Type of a new disk: `filesystem` or `block`.'),
    fileSystem: z.string().nullish().describe('Required file system of a new disk; null: any.'),
    selector: z.string().optional().describe('The field of the volume to change.'),
    freeBytes: bytes.optional().describe('Bytes to delete on the file system of the disk; may be 0.'),
    releaseBytes: bytes.optional().describe('Nominal bytes of replicas to move off the disk; may be 0.'),
    fromBytes: bytes.optional().describe('Present reserved bytes of the disk.'),
    toBytes: bytes.optional().describe('Maximum reserved bytes of the disk.'),
    bytes: bytes.optional().describe('Minimum size of a new disk, in bytes.'),
    field: z.string().optional().describe('The field of the volume to set.'),
    setting: z.string().optional().describe('The setting of the cluster to change.'),
    from: value.optional().describe('Its value now.'),
    to: value.optional().describe('The value to set.'),
  })
  .meta({ id: 'CureChange' });

const cure = z
  .object({
    sentence: z.string().describe('The change and the resulting place, in a sentence.'),
    changes: z.array(cureChange).describe('One change, or two if no single one suffices.'),
    leadsTo: z
      .object({
        nodeId: z.string().nullable().describe('Id of the node; null: a node to be added.'),
        nodeName,
        zone,
        diskId: z.string().nullable().describe('Id of the disk; null: a disk to be added.'),
        diskName,
        tier: z.string().describe('Name of the tier that would win.'),
      })
      .describe('Resulting place of the replica.'),
  })
  .describe('A minimal change after which the replica has a place, as verified by the scheduler.')
  .meta({ id: 'Cure' });

export const placementExplanationSchema = z
  .object({
    sentence: z.string().describe('The whole answer in one plain sentence.'),
    outcome: z.enum(['placed', 'unplaced']).describe('Result: a place was found or not.'),
    replicaId: uuid.nullable().describe('The replica in question; null for one that does not exist yet.'),
    at: time.describe("Time of the scheduler's run."),
    asked: z
      .object({
        sizeBytes: bytes.describe('Nominal size of the replica, in bytes.'),
        writtenBytes: bytes.describe('Bytes of data that it gets at once; 0 for a new volume.'),
        dataEngine: z.enum(['v1', 'v2']).describe("The volume's data engine."),
        diskType: z.enum(['filesystem', 'block']).describe('Disk type of this engine.'),
        nodeSelector: selector.describe('Tags that the node must have.'),
        diskSelector: selector.describe('Tags that the disk must have.'),
      })
      .describe('The request to the scheduler.'),
    place: namedPlaceSchema.nullable().describe('Present or resulting place; null: it fits nowhere.'),
    tier: z.string().nullable().describe('Name of the tier that won; null: none.'),
    filters: z.array(filterReport).describe('The rules in order; each checks what passed the earlier ones.'),
    tiers: z.array(tierReport).describe('The anti-affinity tiers in the order in which they are tried.'),
    alpha: z
      .number()
      .describe('Weight of the absolute part in the scores, from 0 to 1: the setting `balance-alpha`.'),
    scores: z
      .array(
        namedPlaceSchema
          .extend({
            isChosen: z.boolean().describe('True: the replica is placed there.'),
            node: scoreParts.describe('Score of the node among the nodes.'),
            disk: scoreParts.describe("Score of the disk among that node's disks."),
          })
          .meta({ id: 'ScoredCandidate' }),
      )
      .describe(`At most ${SCORES_SHOWN_MAX}, the best first; empty when nothing fits.`),
    cures: z.array(cure).describe(`At most ${CURES_SHOWN_MAX}, the smallest first; empty when it is placed.`),
    cureSearch: z
      .object({
        tried: count.describe('Number of tried changes.'),
        triedMax: count.describe('Maximum number of tried changes.'),
        isComplete: z.boolean().describe('False: the search ended early, and smaller cures may exist.'),
      })
      .describe('Extent of the search for cures.'),
  })
  .meta({ id: 'PlacementExplanation' });

/** Core's own data is sent unchanged. This does not compile if it and the schema differ. */
export function explanationView(
  explanation: PlacementExplanation,
): DeepReadonly<z.infer<typeof placementExplanationSchema>> {
  return explanation;
}
