'use client';
import { formatBytes, GIB } from '@holdfast/core/model/bytes.js';
import { TextField } from '@holdfast/ui/field.js';
import { useState } from 'react';
import type { Volume } from '../api/types';
import { PlanDialog } from '../shared/plan-dialog';

type Props = { volume: Volume; path: string; onClose: () => void };

/** A volume grows while it is used; clients see the new size when they connect again. */
export function ExpandDialog({ volume, path, onClose }: Props) {
  const [gibibytes, setGibibytes] = useState(String((volume.size / GIB) * 2));
  const size = Math.round(Number(gibibytes) * GIB);
  return (
    <PlanDialog
      title={`Make ${volume.name} larger`}
      description={`It has ${formatBytes(volume.size)} now, and can't become smaller again.`}
      fields={
        <TextField
          label="New size in GiB"
          type="number"
          step="any"
          min={volume.size / GIB}
          value={gibibytes}
          onChange={(event) => setGibibytes(event.target.value)}
          required
          autoFocus
        />
      }
      request={size > 0 ? { method: 'POST', path: `${path}/expand`, body: { size } } : undefined}
      confirmLabel="Resize"
      done={`${volume.name} is being resized.`}
      onClose={onClose}
    />
  );
}
