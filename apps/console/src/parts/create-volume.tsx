'use client';
import { GIB } from '@holdfast/core/model/bytes.js';
import { REPLICA_COUNT_MAX } from '@holdfast/core/model/volume.js';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { TextField } from '@holdfast/ui/field.js';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import type { FormEvent } from 'react';
import { api } from '../api/client';
import { isProblem } from '../api/problem';
import { keys } from '../api/queries';
import { useCluster } from '../api/use-cluster';
import { paths } from '../paths';

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
  const problem = isProblem(create.error) ? create.error : undefined;
  const errorAt = (pointer: string) => problem?.errors.find((error) => error.pointer === pointer)?.detail;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    create.mutate(new FormData(event.currentTarget));
  }

  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
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
      {create.error !== null && (problem === undefined || problem.errors.length === 0) && (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
          {problem?.detail ?? 'There was no answer. Nothing may have been created yet.'}
        </p>
      )}
      <div className="mt-1 flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" busy={create.isPending}>
          Create volume
        </Button>
      </div>
    </form>
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
