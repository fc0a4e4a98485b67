'use client';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { TextField } from '@holdfast/ui/field.js';
import { Plus } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { api } from '../api/client';
import { useForbidden } from '../api/use-access';
import { useChooseCluster } from '../api/use-cluster';
import { paths } from '../paths';
import { DialogForm } from './dialog-form';
import { useAction } from './use-action';

/** @param isSmall beside the name of the cluster, where there is room for a sign only */
type Props = { isSmall?: boolean };

/** Opens the form for a further cluster, which is shown once it exists: it needs nodes next. */
export function AddClusterButton({ isSmall = false }: Props) {
  const [isAsked, setAsked] = useState(false);
  const forbidden = useForbidden()('cluster:write');
  return (
    <>
      <Button
        variant={isSmall ? 'ghost' : 'secondary'}
        disabledReason={forbidden}
        onClick={() => setAsked(true)}
        {...(isSmall ? { 'aria-label': 'New cluster…', className: 'h-6 px-1' } : {})}
      >
        <Plus aria-hidden size={14} /> {!isSmall && 'New cluster…'}
      </Button>
      {isAsked && <AddClusterDialog onClose={() => setAsked(false)} />}
    </>
  );
}

function AddClusterDialog({ onClose }: { onClose: () => void }) {
  const router = useRouter();
  const choose = useChooseCluster();
  const add = useAction({
    run: (form: FormData) => api.createCluster(String(form.get('name')).trim()),
    done: ({ name }) => `Cluster ${name} is there. Its nodes are added here.`,
    refusal: 'beside',
    stale: [['clusters']],
    onDone: ({ id }) => {
      choose(id);
      onClose();
      router.push(paths.nodes);
    },
  });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="New cluster"
      description="A cluster is a group of nodes that share settings: copies of its volumes are placed on these. It begins without nodes."
    >
      <DialogForm
        error={add.error}
        silence="There was no answer. It may have been made."
        busy={add.isPending}
        submitLabel="Create cluster"
        onSubmit={add.mutate}
        onCancel={onClose}
      >
        {(errorAt) => (
          <TextField
            label="Name"
            name="name"
            required
            autoFocus
            autoComplete="off"
            error={errorAt('/name')}
          />
        )}
      </DialogForm>
    </Dialog>
  );
}
