'use client';
import { Dialog } from '@holdfast/ui/dialog.js';
import { TextField } from '@holdfast/ui/field.js';
import { useRouter } from 'next/navigation';
import { api } from '../api/client';
import { keys } from '../api/queries';
import type { Snapshot, Volume } from '../api/types';
import { useCluster } from '../api/use-cluster';
import { paths } from '../paths';
import { DialogForm } from '../shared/dialog-form';
import { useAction } from '../shared/use-action';

type Props = { volume: Volume; snapshot: Snapshot; onDone: () => void };

/** Makes a volume that will hold what the snapshot holds, and goes to it. */
export function CloneDialog({ volume, snapshot, onDone }: Props) {
  const cluster = useCluster();
  const router = useRouter();
  const clone = useAction({
    run: (name: string) => api.clone(cluster.id, volume.id, { snapshotId: snapshot.id, name }),
    done: (made) => `${made.name} is being filled from ${snapshot.name}.`,
    refusal: 'beside',
    stale: [keys.volumes(cluster.id)],
    onDone: (made) => {
      onDone();
      router.push(paths.volume(made.id));
    },
  });
  return (
    <Dialog
      open
      onOpenChange={onDone}
      title={`Clone ${volume.name} as it was at ${snapshot.name}`}
      description="A new volume of the same size and number of copies. It can be used once it is filled; until then the snapshot stays."
    >
      <DialogForm
        error={clone.error}
        silence="There was no answer. It may have been made."
        busy={clone.isPending}
        submitLabel="Clone"
        onSubmit={(form) => clone.mutate(String(form.get('name')).trim())}
        onCancel={onDone}
      >
        {(errorAt) => (
          <TextField
            label="Name of the clone"
            name="name"
            required
            autoFocus
            autoComplete="off"
            placeholder={`${volume.name}-copy`}
            hint="Lower case letters, digits and dashes. Unique in its project."
            error={errorAt('/name')}
          />
        )}
      </DialogForm>
    </Dialog>
  );
}
