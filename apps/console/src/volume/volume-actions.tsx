'use client';
import { decideAttach } from '@holdfast/core/policy/decide-attach.js';
import { decideChange, decideGrowth } from '@holdfast/core/policy/decide-change.js';
import { decideDeletion } from '@holdfast/core/policy/decide-deletion.js';
import { COPIES_MISSING } from '@holdfast/core/policy/decide-salvage.js';
import { decideVerification } from '@holdfast/core/policy/decide-verification.js';
import { Button } from '@holdfast/ui/button.js';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { detachWayOf, reasonOf } from '../actions';
import { useSilentNodes } from '../api/silent-nodes';
import type { Volume } from '../api/types';
import { useForbidden } from '../api/use-access';
import { useCluster } from '../api/use-cluster';
import { paths } from '../paths';
import { CopyAs } from '../shared/copy-as';
import { copyForms } from '../shared/copy-forms';
import { PlanDialog } from '../shared/plan-dialog';
import { AcceptCopiesDialog } from './accept-copies-dialog';
import { AttachDialog } from './attach-dialog';
import { CopiesDialog } from './copies-dialog';
import { isChoiceOpen } from './copy-choices';
import { ExpandDialog } from './expand-dialog';
import { SalvageDialog } from './salvage-dialog';
import { useActionFacts } from './use-action-facts';
import { useVolumeAct } from './use-volume-act';

type DialogName = 'accept' | 'attach' | 'copies' | 'delete' | 'detach' | 'expand' | 'force' | 'salvage';

/** Actions on a volume. A disabled one stays visible with its reason. */
export function VolumeActions({ volume }: { volume: Volume }) {
  const cluster = useCluster();
  const [dialog, setDialog] = useState<DialogName>();
  const path = `/clusters/${cluster.id}/volumes/${volume.id}`;
  const facts = useActionFacts(volume);
  const forbidden = useForbidden(volume.projectId)('volume:write');
  const detach = detachWayOf(volume, facts, useSilentNodes());
  const holder = facts.nodes.find(({ id }) => id === volume.attachedNodeId);
  const act = useVolumeAct(volume, dialog === undefined ? 'noted' : 'beside', () => setDialog(undefined));
  const close = () => {
    // A running one reports its end in a note.
    if (!act.isPending) act.reset();
    setDialog(undefined);
  };
  const againstAttach = forbidden ?? reasonOf(decideAttach(facts, undefined));
  const againstChange = forbidden ?? reasonOf(decideChange(facts));
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
        disabledReason={forbidden ?? detach.reason}
        onClick={() => setDialog(detach.force ? 'force' : 'detach')}
      >
        {detach.force ? 'Force detach' : 'Detach'}
      </Button>
      <Button disabledReason={forbidden ?? reasonOf(decideVerification(facts))} onClick={() => act.verify()}>
        Verify
      </Button>
      <Button disabledReason={forbidden ?? reasonOf(decideGrowth(facts))} onClick={() => setDialog('expand')}>
        Resize
      </Button>
      <Button disabledReason={againstChange} onClick={() => setDialog('copies')}>
        Copies
      </Button>
      {isChoiceOpen(volume) && (
        <Button variant="danger" disabledReason={againstChange} onClick={() => setDialog('accept')}>
          Choose copies…
        </Button>
      )}
      {volume.attention?.code === COPIES_MISSING && (
        <Button disabledReason={againstChange} onClick={() => setDialog('salvage')}>
          Salvage
        </Button>
      )}
      <Button
        variant="danger"
        disabledReason={forbidden ?? reasonOf(decideDeletion(facts))}
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
      {dialog === 'expand' && <ExpandDialog volume={volume} path={path} onClose={close} />}
      {dialog === 'detach' && <DetachDialog volume={volume} path={path} onClose={close} />}
      {dialog === 'force' && (
        <ForceDialog volume={volume} path={path} holder={holder?.name ?? 'its node'} onClose={close} />
      )}
      {dialog === 'accept' && <AcceptCopiesDialog volume={volume} path={path} onClose={close} />}
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
      {dialog === 'delete' && <DeleteDialog volume={volume} path={path} onClose={close} />}
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

type DialogProps = { volume: Volume; path: string; onClose: () => void };

function DetachDialog({ volume, path, onClose }: DialogProps) {
  return (
    <PlanDialog
      title={`Detach ${volume.name}?`}
      description="Its node stops serving it. Its data stays on its copies, and it can be attached again."
      request={{ method: 'POST', path: `${path}/detach`, body: { force: false } }}
      confirmLabel="Detach"
      done={`${volume.name} is being detached.`}
      onClose={onClose}
    />
  );
}

function ForceDialog({ volume, path, holder, onClose }: DialogProps & { holder: string }) {
  return (
    <PlanDialog
      title={`Detach without ${holder}?`}
      description={`${holder} does not answer. After this the volume can be attached elsewhere, with every write that was acknowledged and flushed. Should ${holder} still run somewhere, its writes are refused from the next attach on.`}
      request={{ method: 'POST', path: `${path}/detach`, body: { force: true } }}
      confirmLabel="Force detach"
      done={`${volume.name} is taken from its node.`}
      isDangerous
      onClose={onClose}
    />
  );
}

function DeleteDialog({ volume, path, onClose }: DialogProps) {
  const router = useRouter();
  return (
    <PlanDialog
      title={`Delete ${volume.name}?`}
      description="All its copies and their data are removed. This can't be undone."
      request={{ method: 'DELETE', path }}
      confirmLabel="Delete volume"
      done={`${volume.name} is being deleted.`}
      isDangerous
      typedName={volume.name}
      onClose={onClose}
      onDone={() => router.replace(paths.volumes)}
    />
  );
}
