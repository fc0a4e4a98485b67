'use client';
import { REPLICA_COUNT_MAX } from '@holdfast/core/model/volume.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { TextField } from '@holdfast/ui/field.js';
import { useRouter } from 'next/navigation';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { api, type VolumeShape } from '../api/client';
import { keys } from '../api/queries';
import { useCluster } from '../api/use-cluster';
import { paths } from '../paths';
import { DialogForm } from '../shared/dialog-form';
import { useAction } from '../shared/use-action';
import { LiveFit } from './live-fit';
import { readVolumeForm, readVolumeShape } from './volume-form';
import { VolumeOptions } from './volume-options';

const DEFAULT_REPLICAS = 3;

type Props = { open: boolean; onOpenChange: (open: boolean) => void };

export function CreateVolume({ open, onOpenChange }: Props) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Create volume"
      description="Its copies are placed at once, each in another zone where there are enough."
    >
      <CreateForm onDone={() => onOpenChange(false)} />
    </Dialog>
  );
}

function CreateForm({ onDone }: { onDone: () => void }) {
  const cluster = useCluster();
  const router = useRouter();
  const create = useAction({
    run: (form: FormData) => api.createVolume(cluster.id, readVolumeForm(form)),
    done: ({ name }) => `${name} is created.`,
    refusal: 'beside',
    stale: [keys.volumes(cluster.id)],
    onDone: (volume) => {
      onDone();
      router.push(paths.volume(volume.id));
    },
  });
  return (
    <DialogForm
      error={create.error}
      silence="There was no answer. Nothing may have been created yet."
      busy={create.isPending}
      submitLabel="Create volume"
      onSubmit={create.mutate}
      onCancel={onDone}
    >
      {(errorAt) => (
        <VolumeFields options={<VolumeOptions errorAt={errorAt} />}>
          <TextField
            label="Name"
            name="name"
            required
            autoFocus
            autoComplete="off"
            placeholder="pg-data"
            hint="Lower case letters, digits and dashes. Unique in its project."
            error={errorAt('/name')}
          />
          <div className="grid grid-cols-2 gap-3">
            <TextField
              label="Size in GiB"
              name="sizeGib"
              type="number"
              min="0.001"
              step="any"
              defaultValue="1"
              required
              error={errorAt('/size')}
            />
            <TextField
              label="Copies"
              name="replicas"
              type="number"
              min={1}
              max={REPLICA_COUNT_MAX}
              defaultValue={DEFAULT_REPLICAS}
              required
              error={errorAt('/numberOfReplicas')}
            />
          </div>
        </VolumeFields>
      )}
    </DialogForm>
  );
}

/** The fields, where the volume would go as they are now, and the options that few need. */
function VolumeFields({ options, children }: { options: ReactNode; children: ReactNode }) {
  const fields = useRef<HTMLDivElement>(null);
  const [shape, setShape] = useState<VolumeShape>();
  const read = () => {
    const form = fields.current?.closest('form');
    if (form != null) setShape(readVolumeShape(new FormData(form)));
  };
  // The form's initial values are checked, too.
  useEffect(read, []);
  return (
    <div ref={fields} onChange={read} className="flex flex-col gap-3">
      {children}
      <LiveFit shape={shape} />
      {options}
    </div>
  );
}
