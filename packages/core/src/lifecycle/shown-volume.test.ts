import type { Volume } from '@holdfast/core/model/volume.js';
import { AN_OWNER, aVolume, NOON } from '@holdfast/testkit/builders.js';
import { attachedOn, TO_REPAIR } from '@holdfast/testkit/lifecycle-builder.js';
import { aFill, aPurge, aTask } from '@holdfast/testkit/task-builder.js';
import { describe, expect, test } from '@jest/globals';
import { DETACHED } from '../model/volume-lifecycle.js';
import { isWorkersOwn, shownConditions, shownState, waitsForAdmission } from './shown-volume.js';

const FILL = aFill();
const PURGE = aPurge();
const ADMISSION = expect.stringMatching(/^admission: snapshot-heavy-task-concurrent-limit says/);

type Row<Want> = { name: string; part: Partial<Volume>; want: Want };
const attached = (part: Partial<Volume>) =>
  aVolume(AN_OWNER, { lifecycle: attachedOn('n1'), epoch: 2, ...part });

describe('shownState', () => {
  test.each<Row<[state: string, isWorkersOwn: boolean]>>([
    {
      name: "A user's attachment is shown.",
      part: {},
      want: ['attached', false],
    },
    {
      name: 'What the worker attaches to rebuild it is detached to users.',
      part: { lifecycle: attachedOn('n1', { request: TO_REPAIR }) },
      want: ['detached', true],
    },
    {
      name: 'What the worker attaches to fill it is still being created to users.',
      part: { task: FILL },
      want: ['creating', true],
    },
  ])('$name', ({ part, want }) => {
    const volume = attached(part);
    expect([shownState(volume), isWorkersOwn(volume)]).toEqual(want);
  });
});

describe('waitsForAdmission', () => {
  test.each<Row<unknown>>([
    {
      name: 'A purge that an engine could begin waits for admission.',
      part: { task: PURGE },
      want: ADMISSION,
    },
    { name: 'So does a filling.', part: { task: FILL }, want: ADMISSION },
    { name: 'A volume without such work waits for nothing.', part: {}, want: undefined },
    {
      name: 'A revert needs no admission.',
      part: { task: aTask({ kind: 'revert', snapshotId: FILL.snapshotId }) },
      want: undefined,
    },
    {
      name: 'Without an engine it waits for that first.',
      part: { task: PURGE, lifecycle: DETACHED },
      want: undefined,
    },
    {
      name: 'What is admitted does not wait.',
      part: { task: aPurge({ admittedAt: NOON }) },
      want: undefined,
    },
    {
      name: 'What this attachment has begun does not wait.',
      part: { task: { ...PURGE, startedEpoch: 2 } },
      want: undefined,
    },
    {
      name: 'What an earlier attachment had begun waits again.',
      part: { task: { ...PURGE, startedEpoch: 1 } },
      want: ADMISSION,
    },
  ])('$name', ({ part, want }) => {
    expect(waitsForAdmission(attached(part))).toEqual(want);
  });
});

describe('shownConditions', () => {
  const stored = {
    type: 'Scheduled',
    status: 'True',
    reason: '',
    message: '',
    lastTransitionAt: NOON,
  } as const;

  test.each<Row<unknown[]>>([
    { name: 'What is stored is shown.', part: { conditions: [stored] }, want: [stored] },
    {
      name: 'A clone that is being filled says so.',
      part: { task: { ...FILL, startedEpoch: 2 } },
      want: [{ type: 'Filled', status: 'False', reason: 'Filling', lastTransitionAt: NOON }],
    },
    {
      name: 'A clone whose filling waits for admission says so.',
      part: { task: FILL },
      want: [{ reason: 'WaitingForAdmission', message: expect.stringMatching(/^it waits for admission: /) }],
    },
    {
      name: 'A clone whose filling failed says why, also while it waits.',
      part: { task: { ...FILL, trouble: { message: 'its source is away', at: NOON } } },
      want: [{ reason: 'FillFailed', message: 'its source is away' }],
    },
    {
      name: 'A hold says why missing copies are not rebuilt.',
      part: { rebuildHold: 'migrating' },
      want: [
        {
          type: 'RebuildsHeld',
          status: 'True',
          message: expect.stringMatching(/^missing copies are not rebuilt: /),
        },
      ],
    },
  ])('$name', ({ part, want }) => {
    const shown = shownConditions(attached(part));
    expect(shown).toHaveLength(want.length);
    expect(shown).toMatchObject(want);
  });
});
