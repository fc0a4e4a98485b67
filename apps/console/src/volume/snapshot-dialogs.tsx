'use client';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { TextField } from '@holdfast/ui/field.js';
import type { FormEvent } from 'react';
import type { Snapshot, Volume } from '../api/types';
import { PlanDialog } from '../shared/plan-dialog';
import { Refusal } from '../shared/refusal';

type TakeProps = {
  open: boolean;
  onOpenChange: () => void;
  volume: Volume;
  busy: boolean;
  /** Why the last try was refused; null for none. */
  problem: unknown;
  onTake: (name: string) => void;
};

export function TakeSnapshotDialog({ open, onOpenChange, volume, busy, problem, onTake }: TakeProps) {
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    onTake(String(new FormData(event.currentTarget).get('name') ?? '').trim());
  }
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Take a snapshot of ${volume.name}`}
      description="Contains every acknowledged write. Data that programs still hold in memory is not in it."
    >
      <form onSubmit={submit} className="flex flex-col gap-3">
        <TextField
          label="Name"
          name="name"
          autoFocus
          autoComplete="off"
          placeholder="before-upgrade"
          hint="Left empty: the time."
        />
        {problem !== null && <Refusal problem={problem} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onOpenChange}>Cancel</Button>
          <Button type="submit" variant="primary" busy={busy}>
            Take snapshot
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

type PlannedProps = { volume: Volume; snapshot: Snapshot; onClose: () => void };

export function RevertDialog({ volume, snapshot, onClose }: PlannedProps) {
  return (
    <PlanDialog
      title={`Take ${volume.name} back to ${snapshot.name}?`}
      description="Writes since the last snapshot are lost; take one first to keep them. Disconnect the client before: with one connected this is refused."
      request={{ method: 'POST', path: `${pathOf(volume)}/revert`, body: { snapshotId: snapshot.id } }}
      confirmLabel="Revert"
      done={`${volume.name} is being taken back to ${snapshot.name}.`}
      isDangerous
      onClose={onClose}
    />
  );
}

export function DeleteSnapshotDialog({ volume, snapshot, onClose }: PlannedProps) {
  return (
    <PlanDialog
      title={`Delete snapshot ${snapshot.name}?`}
      description={`What ${volume.name} reads now stays as it is, and so do its other snapshots.`}
      request={{ method: 'DELETE', path: `${pathOf(volume)}/snapshots/${snapshot.id}` }}
      confirmLabel="Delete snapshot"
      done={`${snapshot.name} is being deleted.`}
      isDangerous
      onClose={onClose}
    />
  );
}

const pathOf = ({ clusterId, id }: Volume) => `/clusters/${clusterId}/volumes/${id}`;
