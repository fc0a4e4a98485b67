'use client';
import { decideAttach } from '@holdfast/core/policy/decide-attach.js';
import { decideChange, decideGrowth } from '@holdfast/core/policy/decide-change.js';
import { decideDeletion } from '@holdfast/core/policy/decide-deletion.js';
import { decideDetach } from '@holdfast/core/policy/decide-detach.js';
import { COPIES_MISSING } from '@holdfast/core/policy/decide-salvage.js';
import { decideVerification } from '@holdfast/core/policy/decide-verification.js';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { TextField } from '@holdfast/ui/field.js';
import { useRouter } from 'next/navigation';
import { type FormEvent, useState } from 'react';
import { reasonOf } from '../actions';
import { api } from '../api/client';
import type { Volume } from '../api/types';
import { useCluster } from '../api/use-cluster';
import { paths } from '../paths';
import { CopyAs } from '../shared/copy-as';
import { copyForms } from '../shared/copy-forms';
import { Refusal } from '../shared/refusal';
import { useAction } from '../shared/use-action';
import { AttachDialog } from './attach-dialog';
import { CopiesDialog } from './copies-dialog';
import { ExpandDialog } from './expand-dialog';
import { SalvageDialog } from './salvage-dialog';
import { useActionFacts } from './use-action-facts';
import { useVolumeAct } from './use-volume-act';

/** What can be done with a volume. What can't be done now stays visible and says why. */
export function VolumeActions({ volume }: { volume: Volume }) {
  const cluster = useCluster();
  const [dialog, setDialog] = useState<'attach' | 'copies' | 'delete' | 'expand' | 'force' | 'salvage'>();
  const facts = useActionFacts(volume);
  const detach = decideDetach(facts, false);
  const needsForce = detach.kind === 'refuse' && detach.code === 'volume.holder_unreachable';
  const holder = facts.nodes.find(({ id }) => id === volume.attachedNodeId);
  const act = useVolumeAct(volume, dialog === undefined ? 'noted' : 'beside', () => setDialog(undefined));
  const close = () => {
    // One that still runs tells its end in a note.
    if (!act.isPending) act.reset();
    setDialog(undefined);
  };
  const againstAttach = reasonOf(decideAttach(facts, undefined));
  return (
    <>
      <Button
        variant={againstAttach === undefined ? 'primary' : 'secondary'}
        disabledReason={againstAttach}
        onClick={() => setDialog('attach')}
      >
        Attach
      </Button>
      <Button
        disabledReason={needsForce ? undefined : reasonOf(detach)}
        busy={act.isPending && dialog === undefined}
        onClick={() => (needsForce ? setDialog('force') : act.detach())}
      >
        {needsForce ? 'Force detach' : 'Detach'}
      </Button>
      <Button disabledReason={reasonOf(decideVerification(facts))} onClick={() => act.verify()}>
        Verify
      </Button>
      <Button disabledReason={reasonOf(decideGrowth(facts))} onClick={() => setDialog('expand')}>
        Resize
      </Button>
      <Button disabledReason={reasonOf(decideChange(facts))} onClick={() => setDialog('copies')}>
        Copies
      </Button>
      {volume.attention?.code === COPIES_MISSING && (
        <Button disabledReason={reasonOf(decideChange(facts))} onClick={() => setDialog('salvage')}>
          Salvage
        </Button>
      )}
      <Button
        variant="danger"
        disabledReason={reasonOf(decideDeletion(facts))}
        onClick={() => setDialog('delete')}
      >
        Delete
      </Button>
      <AttachDialog
        open={dialog === 'attach'}
        onOpenChange={close}
        volume={volume}
        busy={act.isPending}
        problem={act.problem}
        onAttach={act.attach}
      />
      <ExpandDialog
        open={dialog === 'expand'}
        onOpenChange={close}
        volume={volume}
        busy={act.isPending}
        problem={act.problem}
        onExpand={act.expand}
      />
      <ForceDialog
        open={dialog === 'force'}
        onOpenChange={close}
        holder={holder?.name ?? ''}
        busy={act.isPending}
        problem={act.problem}
        onForce={act.forceDetach}
      />
      {dialog === 'copies' && <CopiesDialog volume={volume} onClose={close} />}
      {dialog === 'salvage' && (
        <SalvageDialog
          onClose={close}
          volume={volume}
          busy={act.isPending}
          problem={act.problem}
          onSalvage={act.salvage}
        />
      )}
      <CopyAs forms={formsOf(cluster.id, volume)} />
      <DeleteDialog open={dialog === 'delete'} onOpenChange={close} volume={volume} />
    </>
  );
}

function formsOf(clusterId: string, volume: Volume) {
  return copyForms({
    cli: ['volume', 'get', volume.name],
    path: `/api/v1/clusters/${clusterId}/volumes/${volume.id}`,
    value: volume,
  });
}

type ForceProps = {
  open: boolean;
  onOpenChange: () => void;
  holder: string;
  busy: boolean;
  /** Why the last try was refused; null for none. */
  problem: unknown;
  onForce: () => void;
};

function ForceDialog({ open, onOpenChange, holder, busy, problem, onForce }: ForceProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Detach without ${holder}?`}
      description={`${holder} does not answer. After this the volume can be attached elsewhere, with every write that was acknowledged and flushed. Should ${holder} still run somewhere, its writes are refused from the next attach on.`}
    >
      {problem !== null && <Refusal problem={problem} />}
      <div className="mt-3 flex justify-end gap-2">
        <Button onClick={onOpenChange}>Cancel</Button>
        <Button variant="danger" busy={busy} onClick={onForce}>
          Force detach
        </Button>
      </div>
    </Dialog>
  );
}

function DeleteDialog({
  open,
  onOpenChange,
  volume,
}: {
  open: boolean;
  onOpenChange: () => void;
  volume: Volume;
}) {
  const cluster = useCluster();
  const router = useRouter();
  const [typed, setTyped] = useState('');
  const remove = useAction({
    run: () => api.deleteVolume(cluster.id, volume.id),
    done: () => `${volume.name} is being deleted.`,
    refusal: 'beside',
    stale: [['volumes']],
    onDone: () => router.replace(paths.volumes),
  });
  const confirmed = typed === volume.name;

  function submit(event: FormEvent) {
    event.preventDefault();
    if (confirmed) remove.mutate();
  }

  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Delete ${volume.name}?`}
      description="All its copies and their data are removed. This can't be undone."
    >
      <form onSubmit={submit} className="flex flex-col gap-3">
        <TextField
          label={`Type ${volume.name} to confirm`}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          autoComplete="off"
          autoFocus
        />
        {remove.error !== null && <Refusal problem={remove.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onOpenChange}>Cancel</Button>
          <Button
            type="submit"
            variant="danger"
            busy={remove.isPending}
            disabledReason={confirmed ? undefined : 'Type the name first'}
          >
            Delete volume
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
