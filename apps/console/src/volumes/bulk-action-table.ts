import { REPLICA_COUNT_MAX, REPLICA_COUNT_MIN } from '@holdfast/core/model/volume.js';
import { type BulkResult, bulkCalls, type VolumeAt } from '../api/bulk-calls';
import { labelOf } from './label-change';

/** An action that is offered for several volumes at once. */
export type BulkAction = {
  readonly label: string;
  readonly isDestructive: boolean;
  /** Its effect, as the end of "These volumes …". */
  readonly does: string;
  /** Input that a user gives first; left out: none. */
  readonly input?: { readonly label: string; readonly hint: string; readonly initial: string };
  /** Why the input can't be taken; `undefined` where it can. */
  readonly problemOf?: (input: string) => string | undefined;
  readonly call: (path: VolumeAt, how: { isDry: boolean }, input: string) => Promise<BulkResult>;
};

export const BULK_ACTIONS: readonly BulkAction[] = [
  {
    label: 'Detach',
    isDestructive: false,
    does: 'are detached from their nodes. Clients that still write get errors.',
    call: (path, how) => bulkCalls.detach(path, how),
  },
  {
    label: 'Take snapshots',
    isDestructive: false,
    does: 'get a snapshot each.',
    input: { label: 'Name', hint: 'The same for all; empty: named by the time.', initial: '' },
    call: (path, how, input) => bulkCalls.snapshot(path, how, input.trim()),
  },
  {
    label: 'Set a label',
    isDestructive: false,
    does: 'get this label, in place of another value of it.',
    input: {
      label: 'Label',
      hint: 'As in team=storage; with a minus in front, -team, it is taken off.',
      initial: '',
    },
    problemOf: (input) => (labelOf(input) === undefined ? 'Say it as key=value, or -key.' : undefined),
    call: (path, how, input) => bulkCalls.patch(path, how, { labels: labelOf(input) ?? {} }),
  },
  {
    label: 'Set copies',
    isDestructive: false,
    does: 'keep so many copies. Missing ones are built, those too many are removed.',
    input: { label: 'Copies', hint: `From ${REPLICA_COUNT_MIN} to ${REPLICA_COUNT_MAX}.`, initial: '3' },
    problemOf: (input) =>
      isCount(Number(input)) ? undefined : `From ${REPLICA_COUNT_MIN} to ${REPLICA_COUNT_MAX}.`,
    call: (path, how, input) => bulkCalls.patch(path, how, { numberOfReplicas: Number(input) }),
  },
  {
    label: 'Delete',
    isDestructive: true,
    does: "and all their copies are removed for good. This can't be undone.",
    call: (path, how) => bulkCalls.delete(path, how),
  },
];

function isCount(count: number): boolean {
  return Number.isInteger(count) && count >= REPLICA_COUNT_MIN && count <= REPLICA_COUNT_MAX;
}
