'use client';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { TextField } from '@holdfast/ui/field.js';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import type { FormEvent } from 'react';
import { api } from '../api/client';
import { isProblem } from '../api/problem';
import { keys } from '../api/queries';
import type { Snapshot, Volume } from '../api/types';
import { useCluster } from '../api/use-cluster';
import { paths } from '../paths';

type Props = { volume: Volume; snapshot: Snapshot; onDone: () => void };

/** Makes a volume that will hold what the snapshot holds, and goes to it. */
export function CloneDialog({ volume, snapshot, onDone }: Props) {
  const cluster = useCluster();
  const queryClient = useQueryClient();
  const router = useRouter();
  const clone = useMutation({
    mutationFn: (name: string) => api.clone(cluster.id, volume.id, { snapshotId: snapshot.id, name }),
    onSuccess: (made) => {
      void queryClient.invalidateQueries({ queryKey: keys.volumes(cluster.id) });
      onDone();
      router.push(paths.volume(made.id));
    },
  });
  const problem = isProblem(clone.error) ? clone.error : undefined;
  const nameError = problem?.errors.find(({ pointer }) => pointer === '/name')?.detail ?? problem?.detail;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    clone.mutate(String(new FormData(event.currentTarget).get('name')).trim());
  }

  return (
    <Dialog
      open
      onOpenChange={onDone}
      title={`Clone ${volume.name} as it was at ${snapshot.name}`}
      description="A new volume of the same size and number of copies. It can be used once it is filled; until then the snapshot stays."
    >
      <form onSubmit={submit} className="flex flex-col gap-3">
        <TextField
          label="Name of the clone"
          name="name"
          required
          autoFocus
          autoComplete="off"
          placeholder={`${volume.name}-copy`}
          hint="Lower case letters, digits and dashes. Unique in its project."
          error={
            clone.error === null ? undefined : (nameError ?? 'There was no answer. It may have been made.')
          }
        />
        <div className="flex justify-end gap-2">
          <Button onClick={onDone}>Cancel</Button>
          <Button type="submit" variant="primary" busy={clone.isPending}>
            Clone
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
