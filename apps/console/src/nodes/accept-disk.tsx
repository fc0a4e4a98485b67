'use client';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { TextField } from '@holdfast/ui/field.js';
import { useState } from 'react';
import { api } from '../api/client';
import type { Disk } from '../api/types';
import { useForbidden } from '../api/use-access';
import { useCluster } from '../api/use-cluster';
import { DialogForm } from '../shared/dialog-form';
import { useNodeChange } from '../shared/use-node-change';
import { diskTrouble } from './disk-trouble';

/** The way to say that a disk is the true one, though its stamp says that it is another state of it. Nothing for other disks. */
export function AcceptDiskButton({ disk }: { disk: Disk }) {
  const [isAsked, setAsked] = useState(false);
  const forbidden = useForbidden()('node:write');
  if (diskTrouble(disk)?.isAcceptable !== true) return null;
  return (
    <>
      <Button
        variant="danger"
        aria-label={`Accept… ${disk.name}`}
        disabledReason={forbidden}
        onClick={() => setAsked(true)}
      >
        Accept…
      </Button>
      {isAsked && <AcceptDialog disk={disk} onDone={() => setAsked(false)} />}
    </>
  );
}

/** The API has no dry run of it: the loss depends on the other copies, so the text explains the meaning. */
function AcceptDialog({ disk, onDone }: { disk: Disk; onDone: () => void }) {
  const cluster = useCluster();
  const [typed, setTyped] = useState('');
  const accept = useNodeChange({
    run: () => api.acceptDisk(cluster.id, disk.nodeId, disk.id),
    done: `${disk.name} is taken as it is with the next report of its agent.`,
    refusal: 'beside',
    onDone,
  });
  return (
    <Dialog
      open
      onOpenChange={onDone}
      title={`Take ${disk.name} as it is?`}
      description={`${diskTrouble(disk)?.message ?? ''} Copies on it are built anew if their volumes have another full copy; otherwise later writes are lost. This can't be undone.`}
    >
      <DialogForm
        error={accept.error}
        silence="There was no answer. It may have been accepted."
        busy={accept.isPending}
        submitLabel="Accept disk"
        disabledReason={typed === disk.name ? undefined : 'Type the name first.'}
        onSubmit={() => accept.mutate()}
        onCancel={onDone}
      >
        {() => (
          <>
            <ul className="list-disc pl-5 text-sm">
              <li>What was written since this state is lost where its copies are the only ones.</li>
              <li>
                Where a volume has other copies, remove the one on this disk afterwards, so that it is built
                anew: its record may equal theirs, and it would be read beside them.
              </li>
              <li>It is refused while the disk that it is a copy of answers.</li>
            </ul>
            <TextField
              label={`Type ${disk.name} to confirm`}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
              autoComplete="off"
            />
          </>
        )}
      </DialogForm>
    </Dialog>
  );
}
