/**
 * Steps of a scenario: actions and faults of the cluster. One entry declares a step: its name in files, its parameters, and its
 * effect. A driver has a handler for each (`StepHandlers`), which the compiler demands.
 */
import { z } from 'zod';
import {
  diskGiven,
  diskName,
  name,
  newVolume,
  nodeGiven,
  nodeName,
  settingsGiven,
  tags,
  volumeName,
  volumeSpec,
} from './given.js';
import { durationSchema, sizeSchema } from './quantities.js';

const ofVolume = { volume: volumeName };
/** A copy is named by its volume and place; a node where it holds one copy, else a disk. */
const copy = {
  ...ofVolume,
  on: z.string().min(1).describe('The node that holds the copy, or its disk as node/disk.'),
};
const snapshot = { ...ofVolume, snapshot: name.describe('Name of the snapshot.') };
const reason = z.string().max(200).optional();

export const STEPS = {
  nodeDown: nodeName.describe('A node dies at once, with its engines. Its disks keep what they hold.'),
  nodeUp: nodeName.describe('A dead node comes back.'),
  cutNode: nodeName.describe('A node loses its network and lives on.'),
  joinNode: nodeName.describe('A node that was cut off is back in the network.'),
  allNodesDown: z.literal(true).describe('Every node dies at once.'),
  diskDown: diskName.describe('A disk vanishes from its node.'),
  diskUp: diskName.describe('A disk that vanished is back.'),
  fillDisk: z
    .strictObject({ disk: diskName, available: sizeSchema })
    .describe('Other data leaves only so much of a disk available.'),
  workerDown: durationSchema.describe('No worker runs for so long; time passes meanwhile.'),
  backupDatabase: z.literal(true).describe("The control plane's database is backed up."),
  restoreDatabase: z
    .literal(true)
    .describe(
      "The control plane's database is lost, and restored from the last backup. The copies stay as they are.",
    ),
  failRebuilds: z
    .strictObject({ ...copy, times: z.int().min(1).optional() })
    .describe('The next rebuilds of a copy fail; all of them where no number is named.'),
  moveDisk: z
    .strictObject({ disk: diskName, to: nodeName })
    .describe('A disk is pulled out and put into another node, with the copies on it. It keeps its name.'),
  cloneDisk: z
    .strictObject({ disk: diskName, to: nodeName, as: name.describe('Its name on that node.') })
    .describe(
      "A copy of a disk's files turns up on another node, with the disk's identity and all that is on it now.",
    ),
  saveDisk: diskName.describe('What is on a disk is saved, as by a snapshot of its machine.'),
  setBackDisk: diskName.describe(
    'A disk is set back to what it was when it was saved; its node is started anew.',
  ),
  acceptDisk: diskName.describe(
    'A user takes a disk for the newest state of it, and accepts what is lost with that.',
  ),
  silenceAgent: nodeName.describe(
    'The agent of a node hangs: it says nothing and answers nothing, while its copies and engines go on.',
  ),
  wakeAgent: nodeName.describe('An agent that hung goes on.'),
  stopCopy: z
    .strictObject(copy)
    .describe(
      'The process of a copy dies and is started anew: its engine goes on without it, and its files stay.',
    ),
  loseCopy: z
    .strictObject({ ...copy, unlessLast: z.boolean().optional() })
    .describe("A copy's files vanish from its disk; with `unlessLast` only where another full copy is left."),
  damageCopy: z
    .strictObject({ ...copy, snapshot: name.optional() })
    .describe(
      "A block of a copy's files is changed behind its back: of a snapshot, or of what was written since.",
    ),

  cordon: nodeName,
  uncordon: nodeName,
  drain: z.strictObject({ node: nodeName, policy: z.string().optional() }),
  cancelDrain: nodeName,
  startMaintenance: z
    .strictObject({ node: nodeName, for: durationSchema, reason })
    .describe('Opens a maintenance window.'),
  endMaintenance: nodeName,
  patchNode: z.strictObject({
    node: nodeName,
    allowScheduling: z.boolean().optional(),
    cordoned: z.boolean().optional(),
    evictionRequested: z.boolean().optional(),
    tags: tags.optional(),
    zone: z.string().nullable().optional(),
    region: z.string().nullable().optional(),
  }),
  patchDisk: z.strictObject({
    disk: diskName,
    allowScheduling: z.boolean().optional(),
    evictionRequested: z.boolean().optional(),
    tags: tags.optional(),
    storageReserved: sizeSchema.optional(),
  }),
  removeOrphan: nodeName.describe('A user has the oldest copy on a node removed that belongs to no replica.'),
  addNode: nodeGiven,
  addDisk: z.strictObject({ node: nodeName, ...diskGiven.shape }),
  removeNode: nodeName.describe('A user has a node forgotten that is gone and holds nothing.'),
  forgetNode: z
    .strictObject({ node: nodeName, lose: z.array(volumeName).optional() })
    .describe('A user declares a node gone for good, and names the volumes of which a loss is accepted.'),
  removeDisk: diskName.describe('A user takes an empty disk off its node; its agent lets go of it.'),

  set: settingsGiven.describe('Changes settings of the cluster.'),
  setQuota: z
    .strictObject({
      of: z.enum(['project', 'organization']),
      provisionedBytes: sizeSchema.optional(),
      physicalBytes: sizeSchema.optional(),
      volumes: z.int().min(0).optional(),
      snapshots: z.int().min(0).optional(),
      runningRebuilds: z.int().min(0).optional(),
    })
    .describe('Sets what all volumes together may use; what is left out has no limit.'),
  createVolume: newVolume,
  patchVolume: z.strictObject({ ...ofVolume, ...volumeSpec }),
  deleteVolume: volumeName,
  attach: z.strictObject({ ...ofVolume, node: nodeName.optional() }),
  detach: z.strictObject({ ...ofVolume, force: z.boolean().optional() }),
  write: volumeName.describe('A user writes once, and remembers it if it was acknowledged.'),
  expand: z.strictObject({ ...ofVolume, size: sizeSchema }),
  cloneVolume: z
    .strictObject({ ...snapshot, name })
    .describe('A new volume is filled from a snapshot of another one.'),
  takeSnapshot: z.strictObject(snapshot),
  deleteSnapshot: z.strictObject(snapshot),
  revert: z.strictObject(snapshot),
  recurringSnapshot: z.strictObject({ ...ofVolume, name, cron: z.string(), retain: z.int().min(1) }),
  purge: volumeName,
  verify: volumeName,
  salvage: volumeName,
  deleteReplica: z.strictObject(copy),
  moveReplica: z
    .strictObject({ ...copy, to: z.string().min(1).optional() })
    .describe('A user moves a copy to a node, or to a disk as node/disk; left out: wherever it fits.'),
  cancelRebuild: volumeName,
  pauseRebuild: volumeName,
  resumeRebuild: volumeName,
} as const;

export type StepName = keyof typeof STEPS;
export type StepAsk<Name extends StepName> = z.infer<(typeof STEPS)[Name]>;

/** One step with its parameters. */
export type StepCall = { [Name in StepName]: { readonly name: Name; readonly ask: StepAsk<Name> } }[StepName];

export type StepHandlers = { [Name in StepName]: (ask: StepAsk<Name>) => Promise<void> };

export function isStepName(text: string): text is StepName {
  return Object.hasOwn(STEPS, text);
}

/** Runs the handler of one step. */
export function runStep<Name extends StepName>(
  handlers: StepHandlers,
  { name: step, ask }: { readonly name: Name; readonly ask: StepAsk<Name> },
): Promise<void> {
  return handlers[step](ask);
}
