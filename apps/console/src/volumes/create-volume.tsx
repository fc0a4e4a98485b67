'use client';
import { GIB } from '@holdfast/core/model/bytes.js';
import { REPLICA_COUNT_MAX } from '@holdfast/core/model/volume.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { TextField } from '@holdfast/ui/field.js';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { api } from '../api/client';
import { keys } from '../api/queries';
import { useCluster } from '../api/use-cluster';
import { paths } from '../paths';
import { DialogForm } from '../shared/dialog-form';

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
  const queryClient = useQueryClient();
  const router = useRouter();
  const create = useMutation({
    mutationFn: (form: FormData) => api.createVolume(cluster.id, readForm(form)),
    onSuccess: (volume) => {
      void queryClient.invalidateQueries({ queryKey: keys.volumes(cluster.id) });
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
        <>
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
        </>
      )}
    </DialogForm>
  );
}

/** Sizes are given in GiB and rounded to whole MiB, which are always a multiple of the block size. */
function readForm(form: FormData) {
  const mebibytes = Math.round(Number(form.get('sizeGib')) * 1024);
  return {
    name: String(form.get('name')).trim(),
    size: mebibytes * (GIB / 1024),
    numberOfReplicas: Number(form.get('replicas')),
  };
}
