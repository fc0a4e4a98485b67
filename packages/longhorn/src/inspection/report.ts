/** The report of an inspection: its form, which is also what `-o json` prints, and its schema in docs/longhorn-inspect.schema.json. */
import { z } from 'zod';

export const SEVERITIES = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

const severity = z.enum(SEVERITIES);
const count = z.int().min(0);
const place = z.object({ file: z.string(), line: z.int().min(1) });

const numbers = z.object({
  requiredBytes: z.int().describe('what is asked of the disk'),
  availableBytes: z.int().describe('what it has'),
  thresholdBytes: z.int().describe('what has to stay free, or the limit of what may be promised'),
});

const rejection = z.object({
  node: z.string(),
  disk: z.string().nullable().describe('null: the whole node was refused'),
  reason: z.string(),
  message: z.string(),
  numbers: numbers.nullable(),
});

const rule = z.object({
  name: z.string(),
  asks: z.string(),
  asked: count,
  rejected: count,
  rejections: z.array(rejection),
});

const placement = z.object({
  sentence: z.string(),
  longhornReasons: z
    .array(z.string())
    .describe("what Longhorn's scheduler answers to the recorded conditions, in its words"),
  wouldGoTo: z.object({ node: z.string(), disk: z.string() }).nullable(),
  rules: z.array(rule),
  cures: z.array(z.string()).describe('each was tried; smallest first'),
});

const volume = z.object({
  name: z.string(),
  claim: z.string().nullable().describe('namespace/name of its claim'),
  severity,
  state: z.string(),
  robustness: z.string(),
  degradedSince: z.string(),
  replicas: z.object({ wanted: count, healthy: count, placed: count, failed: count, unplaced: count }),
  longhornSays: z.array(z.object({ condition: z.string(), reason: z.string(), message: z.string() })),
  says: z.string().describe('what is wrong, in one sentence'),
  placement: placement.nullable().describe('null: no copy waits for a place'),
  agreement: z
    .object({ agrees: z.boolean(), sentence: z.string() })
    .nullable()
    .describe("whether the scheduler's answer is Longhorn's; null: Longhorn says nothing to compare"),
  at: place,
});

const finding = z.object({
  code: z.string(),
  severity,
  object: z.string().describe('kind and name, such as `disk node-1/data`'),
  message: z.string(),
  at: place,
});

const signature = z.object({
  number: z.int().min(1).describe('in docs/longhorn-signatures.md'),
  name: z.string(),
  title: z.string(),
  severity,
  isSuspect: z.boolean().describe('true: the evidence fits other causes too, or its meaning is disputed'),
  advice: z.string(),
  source: z.string(),
  count: count.describe('places where it was found'),
  evidence: z
    .array(z.object({ object: z.string(), message: z.string(), at: place }))
    .describe('the first of them'),
});

const chance = z.number().min(0).max(1);
const lost = z.array(
  z.object({
    name: z.string(),
    count: count.describe('volumes whose healthy replicas are all there'),
    volumes: z.array(z.string()).describe('the first of them'),
  }),
);

const risk = z.object({
  assumptions: z.array(z.string()),
  lostWith: z.object({ nodes: lost, zones: lost, disks: lost }),
  anyLossPerYear: chance.describe('chance that disks lose some volume within a year'),
  bytesLostPerYear: count.describe('expected, by nominal size'),
  nodesLostAtOnce: z
    .array(z.object({ nodes: count, sets: count, lossChance: chance }))
    .describe(
      'chance of some loss when so many nodes are lost at once as volumes have replicas on; sets: distinct sets of nodes',
    ),
  volumes: z
    .array(
      z.object({
        name: z.string(),
        healthy: count,
        wanted: count,
        lossPerYear: chance,
        halvedBy: z.array(z.string()).describe('changes that at least halve the chance, each computed'),
      }),
    )
    .describe('the most endangered'),
});

const topology = z.array(
  z.object({
    zone: z.string(),
    nodes: z.array(
      z.object({
        name: z.string(),
        isReady: z.boolean(),
        takesReplicas: z.boolean(),
        disks: z.array(
          z.object({
            name: z.string(),
            isReady: z.boolean(),
            maximumBytes: z.int(),
            availableBytes: z.int(),
            scheduledBytes: z.int(),
            replicas: count,
          }),
        ),
      }),
    ),
  }),
);

export const reportSchema = z.object({
  schema: z.literal('holdfast.longhorn.inspect/1'),
  source: z.string(),
  at: z.string().describe('the time that waits are judged by: that of the bundle, else when it was read'),
  cluster: z.object({
    version: z.string(),
    namespace: z.string(),
    apiVersions: z.array(z.string()),
    counts: z.record(z.string(), count),
    otherKinds: z.record(z.string(), count),
    unreadFiles: count,
  }),
  summary: z.object({ critical: count, warning: count, info: count, volumesNotInOrder: count }),
  volumes: z.array(volume),
  findings: z.array(finding),
  signatures: z.array(signature).describe('known failures of Longhorn that objects, logs and events show'),
  topology,
  risk: risk.nullable().describe('null: no replicas were read'),
  leftOut: count.describe('volumes and findings beyond those that are listed'),
  problems: z.array(place.extend({ code: z.string(), message: z.string() })),
  problemsLeftOut: count,
  assumptions: z.array(z.string()),
});

export type InspectionReport = z.infer<typeof reportSchema>;
export type VolumeReport = z.infer<typeof volume>;
export type TopologyReport = z.infer<typeof topology>;
export type RiskReport = z.infer<typeof risk>;
export type SignatureReport = z.infer<typeof signature>;
export type Finding = z.infer<typeof finding>;
export type PlacementReport = z.infer<typeof placement>;
