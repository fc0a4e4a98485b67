'use client';
import type { ActionFacts } from '@holdfast/core/policy/action-facts.js';
import { decidePurge } from '@holdfast/core/policy/decide-purge.js';
import {
  decideClone,
  decideHash,
  decideRevert,
  decideSnapshot,
  decideSnapshotDeletion,
} from '@holdfast/core/policy/decide-snapshot.js';
import { Button } from '@holdfast/ui/button.js';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { CopyPlus, History, ShieldCheck, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { reasonOf } from '../actions';
import { useSetting, useSnapshots, useVolumeSettings } from '../api/queries';
import type { Snapshot, Volume } from '../api/types';
import { useForbidden } from '../api/use-access';
import { CopyQuestionAs } from '../shared/copy-question';
import { Loaded } from '../shared/loaded';
import { CloneDialog } from './clone-dialog';
import { DeleteSnapshotDialog, RevertDialog, TakeSnapshotDialog } from './snapshot-dialogs';
import { SnapshotPicture } from './snapshot-picture';
import { TaskNote } from './task-note';
import { useActionFacts } from './use-action-facts';
import { useSnapshotAct } from './use-snapshot-act';

type Dialog = { kind: 'take' } | { kind: 'revert' | 'clone' | 'delete'; snapshot: Snapshot };

/** Earlier states of the volume, and the way back. */
export function SnapshotsPanel({ volume }: { volume: Volume }) {
  const snapshots = useSnapshots(volume.id);
  const [dialog, setDialog] = useState<Dialog>();
  const act = useSnapshotAct(volume, dialog === undefined ? 'noted' : 'beside', () => setDialog(undefined));
  const close = () => {
    // A running one reports its end in a note.
    if (!act.isPending) act.reset();
    setDialog(undefined);
  };
  const facts = useActionFacts(volume);
  const forbidden = useForbidden(volume.projectId)('volume:write');
  const purging = useSetting('disable-snapshot-purge');
  const settings = useVolumeSettings(volume.id);
  const max = Number(settings.data?.find(({ name }) => name === 'snapshotMaxCount')?.value ?? Infinity);
  const taking = decideSnapshot(facts, { snapshots: snapshots.data ?? [], max }, undefined);

  return (
    <Panel
      title="Snapshots"
      hint="Newest first; the line leads to the volume"
      flush
      aside={
        <span className="flex flex-wrap gap-2">
          <Button
            disabledReason={
              forbidden ??
              reasonOf(decidePurge(facts, purging.data?.value === true)) ??
              // The API would accept it, and nothing would come of it.
              (hasNothingToPurge(snapshots.data ?? []) ? 'There is no layer to purge' : undefined)
            }
            busy={act.isPending && dialog === undefined}
            onClick={act.purge}
          >
            Purge
          </Button>
          <Button disabledReason={forbidden ?? reasonOf(taking)} onClick={() => setDialog({ kind: 'take' })}>
            Take snapshot
          </Button>
          <CopyQuestionAs
            of="the snapshots"
            question={{ path: `/clusters/{clusterId}/volumes/${volume.id}/snapshots` }}
            isList
          />
        </span>
      }
    >
      <TaskNote volume={volume} />
      <Loaded query={snapshots} what="the snapshots">
        {(data) =>
          data.length === 0 ? (
            <Message
              title="No snapshot yet"
              body="A snapshot takes no space until its data is overwritten, and a moment to make."
            />
          ) : (
            <SnapshotPicture
              volume={volume}
              snapshots={data}
              actions={(snapshot) => (
                <Actions
                  snapshot={snapshot}
                  facts={facts}
                  forbidden={forbidden}
                  onClone={() => setDialog({ kind: 'clone', snapshot })}
                  onRevert={() => setDialog({ kind: 'revert', snapshot })}
                  onHash={() => act.hash(snapshot)}
                  onDelete={() => setDialog({ kind: 'delete', snapshot })}
                />
              )}
            />
          )
        }
      </Loaded>
      <TakeSnapshotDialog
        open={dialog?.kind === 'take'}
        onOpenChange={close}
        volume={volume}
        busy={act.isPending}
        problem={act.problem}
        onTake={act.take}
      />
      {dialog?.kind === 'clone' && <CloneDialog volume={volume} snapshot={dialog.snapshot} onDone={close} />}
      {dialog?.kind === 'revert' && (
        <RevertDialog volume={volume} snapshot={dialog.snapshot} onClose={close} />
      )}
      {dialog?.kind === 'delete' && (
        <DeleteSnapshotDialog volume={volume} snapshot={dialog.snapshot} onClose={close} />
      )}
    </Panel>
  );
}

type ActionProps = {
  snapshot: Snapshot;
  facts: ActionFacts;
  /** Why the user may do none of it. */
  forbidden: string | undefined;
  onClone: () => void;
  onRevert: () => void;
  onHash: () => void;
  onDelete: () => void;
};

function Actions({ snapshot, facts, forbidden, onClone, onRevert, onHash, onDelete }: ActionProps) {
  if (snapshot.origin === 'system' || snapshot.state !== 'ready') return null;
  return (
    <>
      <Button
        variant="ghost"
        disabledReason={forbidden ?? reasonOf(decideClone(facts, snapshot))}
        onClick={onClone}
        aria-label={`Clone ${snapshot.name}`}
      >
        <CopyPlus aria-hidden size={15} />
      </Button>
      <Button
        variant="ghost"
        disabledReason={forbidden ?? reasonOf(decideRevert(facts, snapshot))}
        onClick={onRevert}
        aria-label={`Revert to ${snapshot.name}`}
      >
        <History aria-hidden size={15} />
      </Button>
      <Button
        variant="ghost"
        disabledReason={
          forbidden ?? reasonOf(decideHash(facts, { ...snapshot, isBeingHashed: snapshot.isHashing }))
        }
        onClick={onHash}
        aria-label={`Check ${snapshot.name} on every copy`}
      >
        <ShieldCheck aria-hidden size={15} />
      </Button>
      <Button
        variant="ghost"
        disabledReason={forbidden ?? reasonOf(decideSnapshotDeletion(facts, snapshot))}
        onClick={onDelete}
        aria-label={`Delete ${snapshot.name}`}
      >
        <Trash2 aria-hidden size={15} />
      </Button>
    </>
  );
}

/** Usually the worker purges automatically; the button is for layers that a setting keeps. */
const hasNothingToPurge = (snapshots: readonly Snapshot[]) =>
  !snapshots.some(({ state, origin }) => state === 'removed' || origin === 'system');
