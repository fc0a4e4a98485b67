/** A scenario: given, timed steps and expectations, as a file says it and as drivers run it. */
import { z } from 'zod';
import {
  diskExpectation,
  type Expectation,
  eventExpectation,
  nodeExpectation,
  rebuildsExpectation,
  volumeExpectation,
} from './expectations.js';
import { BASE_CLUSTER, clusterGiven, settingsGiven, volumeGiven } from './given.js';
import { durationSchema } from './quantities.js';
import { STEPS, type StepCall, type StepName } from './steps.js';

/** Targets of a scenario: a simulated cluster, or the local stack with its real processes. */
export const TARGETS = ['simulator', 'local'] as const;
export type Target = (typeof TARGETS)[number];

export const STEPS_MAX = 5_000;

const expectationSchema = z.union([
  rebuildsExpectation,
  eventExpectation,
  volumeExpectation,
  nodeExpectation,
  diskExpectation,
]);

/** One expectation or several, all of which have to hold. */
const expectations = z.union([expectationSchema, z.array(expectationSchema).min(1)]);

const when = {
  at: durationSchema.optional().describe('When: a time since the start.'),
  after: durationSchema.optional().describe('When: so long after the entry before has ended.'),
};

export const expectEntry = z.strictObject({
  ...when,
  within: durationSchema.optional().describe('It has to hold at some moment within so long.'),
  for: durationSchema.optional().describe('It has to hold the whole time for so long.'),
  expect: expectations,
});

export const alwaysEntry = z.strictObject({ ...when, always: expectations });
export const neverEntry = z.strictObject({ ...when, never: expectations });

const share = z.number().min(0).max(1);

const refused = z
  .string()
  .optional()
  .describe('The step has to be refused with this code, or with `any`; `maybe`: it may be refused.');

const chanceGiven = z
  .strictObject({
    effects: share.describe(
      'The worker dies, or loses a call, at this share of its effects on the store and on agents.',
    ),
    lostWakeUps: share.describe('Share of wake-ups that are lost.'),
    doubles: share.describe('Share of wake-ups that two workers get at once.'),
  })
  .partial()
  .describe('What befalls the worker by chance, in the simulator; ends with the steps.');

/** Schema of an entry with this step. */
export function stepEntry(step: StepName) {
  return z.strictObject({ ...when, refused, [step]: STEPS[step] });
}

const stepNames = Object.keys(STEPS).filter((text): text is StepName => Object.hasOwn(STEPS, text));

const head = {
  scenario: z.string().min(1).max(200).describe('Title: what happens, and what it shows.'),
  about: z.string().max(4_000).optional(),
  seed: z.int().min(1).default(1).describe('Of everything that happens by chance in the simulator.'),
  against: z.array(z.enum(TARGETS)).min(1).default(['simulator']).describe('What it can be run against.'),
  cluster: clusterGiven.default({ nodes: [...BASE_CLUSTER.nodes] }),
  settings: settingsGiven.default({}),
  volumes: z.array(volumeGiven).max(1_000).default([]),
  chance: chanceGiven.optional(),
  heals: durationSchema
    .optional()
    .describe(
      'After the steps all that is broken is repaired and all nodes are opened, and within so long every volume has to be well.',
    ),
  always: expectations.optional().describe('Holds at every moment.'),
  never: expectations.optional().describe('Holds at no moment.'),
};

/** The file without what its entries say: each entry is read on its own, so that its errors are its own. */
export const frameSchema = z.strictObject({ ...head, steps: z.array(z.unknown()).min(1).max(STEPS_MAX) });

/** The whole file: what the JSON schema is made of. */
export const fileSchema = z.strictObject({
  ...head,
  steps: z
    .array(z.union([expectEntry, alwaysEntry, neverEntry, ...stepNames.map((step) => stepEntry(step))]))
    .min(1)
    .max(STEPS_MAX)
    .describe('What happens and what is expected, in the order of time.'),
});

export type When = { readonly at?: number | undefined; readonly after?: number | undefined };

/** One expectation with the line that it is written in. */
export type Check = { readonly line: number; readonly expectation: Expectation };

export type Entry = { readonly line: number; readonly when: When } & (
  | { readonly kind: 'step'; readonly call: StepCall; readonly refused: string | undefined }
  | {
      readonly kind: 'expect';
      readonly checks: readonly Check[];
      readonly within: number | undefined;
      readonly for: number | undefined;
    }
  | { readonly kind: 'always' | 'never'; readonly checks: readonly Check[] }
);

export type Scenario = Omit<z.infer<typeof frameSchema>, 'steps' | 'always' | 'never' | 'scenario'> & {
  readonly title: string;
  readonly entries: readonly Entry[];
};
