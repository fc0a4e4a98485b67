/** Use cases of recurring snapshots: users set the schedules, and the worker takes the snapshots. */
import { nextCronTime } from '@holdfast/core/model/cron.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import type { RecurringSnapshot } from '@holdfast/core/model/recurring-snapshot.js';
import {
  type RecurringSnapshotInput,
  recurringSnapshotProblems,
} from '@holdfast/core/policy/decide-recurring-snapshot.js';
import type { Change, VolumeView } from '../ports/store.js';
import { changeVolume } from './snapshots.js';
import type { UseCasePorts } from './use-case.js';

type Key = { volumeId: VolumeId; name: string; ifVersion?: number | undefined };

/**
 * Makes a schedule, or changes the one of that name. Where the times stay the same the next one does too.
 *
 * @throws StorageFault `request.invalid` that lists every wrong field at once
 */
export function setRecurringSnapshot(
  ports: UseCasePorts,
  input: Key & RecurringSnapshotInput,
): Promise<void> {
  return changeVolume(
    ports,
    input.volumeId,
    (view) => {
      const { name, cron, retain } = input;
      assertValid(view, { name, cron, retain });
      const known = named(view, name);
      if (known?.cron === cron && known.retain === retain) return [];
      const nextRunAt = known?.cron === cron ? known.nextRunAt : nextCronTime(cron, ports.clock.now());
      // Checked above: what can be read and comes at all has a next time.
      if (nextRunAt === undefined) return [];
      const next = { name, cron, retain, nextRunAt, lastRun: known?.lastRun };
      return [replaced(view, name, [next])];
    },
    input.ifVersion,
  );
}

/**
 * Ends a schedule. The snapshots that it took stay.
 *
 * @throws StorageFault `recurring_snapshot.not_found`
 */
export function deleteRecurringSnapshot(
  ports: UseCasePorts,
  { volumeId, name, ifVersion }: Key,
): Promise<void> {
  return changeVolume(
    ports,
    volumeId,
    (view) => {
      if (named(view, name) === undefined) throw recurringSnapshotNotFound(name);
      return [replaced(view, name, [])];
    },
    ifVersion,
  );
}

export function recurringSnapshotNotFound(name: string): StorageFault {
  return new StorageFault('recurring_snapshot.not_found', {
    publicMessage: `the volume has no recurring snapshot named ${name}`,
  });
}

function assertValid(view: VolumeView, input: RecurringSnapshotInput): void {
  const errors = recurringSnapshotProblems(view, input);
  if (errors.length === 0) return;
  const publicMessage = errors.map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`).join('; ');
  throw new StorageFault('request.invalid', { publicMessage, errors });
}

function named({ volume }: VolumeView, name: string): RecurringSnapshot | undefined {
  return volume.recurringSnapshots.find((one) => one.name === name);
}

function replaced({ volume }: VolumeView, name: string, by: readonly RecurringSnapshot[]): Change {
  const others = volume.recurringSnapshots.filter((one) => one.name !== name);
  const recurringSnapshots = [...others, ...by].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { kind: 'volume.patch', volumeId: volume.id, patch: { recurringSnapshots } };
}
