'use client';
import { formatBytes, GIB } from '@holdfast/core/model/bytes.js';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { TextField } from '@holdfast/ui/field.js';
import type { FormEvent } from 'react';
import type { Volume } from '../api/types';
import { Refusal } from '../shared/refusal';

type Props = {
  open: boolean;
  onOpenChange: () => void;
  volume: Volume;
  busy: boolean;
  /** Why the last try was refused; null for none. */
  problem: unknown;
  onExpand: (sizeBytes: number) => void;
};

/** A volume grows while it is used; clients see the new size when they connect again. */
export function ExpandDialog({ open, onOpenChange, volume, busy, problem, onExpand }: Props) {
  const now = volume.size / GIB;
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    onExpand(Math.round(Number(new FormData(event.currentTarget).get('gib')) * GIB));
  }
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Make ${volume.name} larger`}
      description={`It has ${formatBytes(volume.size)} now, and can't become smaller again. Clients see the new size when they connect again.`}
    >
      <form onSubmit={submit} className="flex flex-col gap-3">
        <TextField
          label="New size in GiB"
          name="gib"
          type="number"
          step="any"
          min={now}
          defaultValue={now * 2}
          required
          autoFocus
        />
        {problem !== null && <Refusal problem={problem} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onOpenChange}>Cancel</Button>
          <Button type="submit" variant="primary" busy={busy}>
            Resize
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
