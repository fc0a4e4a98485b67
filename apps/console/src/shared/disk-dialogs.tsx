'use client';
import { formatBytes, GIB } from '@holdfast/core/model/bytes.js';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { SelectField, TextField } from '@holdfast/ui/field.js';
import { useState } from 'react';
import { api, type NewDisk } from '../api/client';
import type { PlannedRequest } from '../api/dry-run';
import type { Disk, StorageNode } from '../api/types';
import { useForbidden } from '../api/use-access';
import { useCluster } from '../api/use-cluster';
import { DialogForm } from './dialog-form';
import { DiskRemovalDialog, useRemovalReason } from './disk-removal';
import { PlanDialog } from './plan-dialog';
import { useNodeChange } from './use-node-change';

/** Opens the form that adds a disk to the node. */
export function AddDiskButton({ node }: { node: StorageNode }) {
  const [isAsked, setAsked] = useState(false);
  const forbidden = useForbidden()('node:write');
  return (
    <>
      <Button disabledReason={forbidden} onClick={() => setAsked(true)}>
        Add disk…
      </Button>
      {isAsked && <AddDiskDialog node={node} onDone={() => setAsked(false)} />}
    </>
  );
}

function AddDiskDialog({ node, onDone }: { node: StorageNode; onDone: () => void }) {
  const cluster = useCluster();
  const add = useNodeChange({
    run: (form: FormData) => api.addDisk(cluster.id, node.id, newDiskOf(form)),
    done: `A disk is being added to ${node.name}.`,
    refusal: 'beside',
    onDone,
  });
  return (
    <Dialog
      open
      onOpenChange={onDone}
      title={`Add a disk to ${node.name}`}
      description="Its agent sets the disk up, and the list shows when it is ready or why it can't be used."
    >
      <DialogForm
        error={add.error}
        silence="There was no answer. The disk may have been added."
        busy={add.isPending}
        submitLabel="Add disk"
        onSubmit={add.mutate}
        onCancel={onDone}
      >
        {(errorAt) => (
          <>
            <TextField
              label="Path on the node"
              name="path"
              required
              autoFocus
              autoComplete="off"
              placeholder="/mnt/disk-2"
              hint="Below the folders that its agent allows: HOLDFAST_DISK_ROOTS, else those that its disks lie in."
              error={errorAt('/path')}
            />
            <SelectField label="Kind" name="type" defaultValue="filesystem">
              <option value="filesystem">Folder, for v1 volumes</option>
              <option value="block">File or device, for v2 volumes</option>
            </SelectField>
            <TextField
              label="Size in GiB"
              name="sizeGib"
              type="number"
              min={1}
              hint="Maximum for its copies. Empty: the agent's default; a device has its own size."
              error={errorAt('/size')}
            />
            <SpecFields disk={undefined} errorAt={errorAt} />
          </>
        )}
      </DialogForm>
    </Dialog>
  );
}

/** Opens the form with a disk's settings, and its removal from its node. */
export function DiskButton({ disk, variant = 'ghost' }: { disk: Disk; variant?: 'ghost' | 'secondary' }) {
  const [isAsked, setAsked] = useState(false);
  const forbidden = useForbidden()('node:write');
  return (
    <>
      <Button
        variant={variant}
        aria-label={`Change disk ${disk.name}`}
        disabledReason={forbidden}
        onClick={() => setAsked(true)}
      >
        Change…
      </Button>
      {isAsked && <DiskDialog disk={disk} onDone={() => setAsked(false)} />}
    </>
  );
}

/** Settings of a disk: first the form, then the dry run of the change. */
function DiskDialog({ disk, onDone }: { disk: Disk; onDone: () => void }) {
  const cluster = useCluster();
  const [body, setBody] = useState<PlannedRequest['body']>();
  const [isRemoving, setRemoving] = useState(false);
  if (isRemoving) return <DiskRemovalDialog disk={disk} onClose={onDone} />;
  if (body !== undefined) {
    return (
      <PlanDialog
        title={`Change ${disk.name}`}
        description="Placement reads the new values from now on."
        request={{
          method: 'PATCH',
          path: `/clusters/${cluster.id}/nodes/${disk.nodeId}/disks/${disk.id}`,
          body,
        }}
        confirmLabel="Change disk"
        done={`${disk.name} is changed.`}
        onClose={onDone}
      />
    );
  }
  return (
    <Dialog
      open
      onOpenChange={onDone}
      title={`Disk ${disk.name}`}
      description={`${disk.path}, ${formatBytes(disk.storageMaximum)}. The next step shows the plan.`}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setBody(changeOf(new FormData(event.currentTarget)));
        }}
        className="flex flex-col gap-3"
      >
        <SelectField
          label="New copies"
          name="use"
          defaultValue={openingOf(disk)}
          hint="Emptying a disk builds each of its copies elsewhere first, then removes it here."
        >
          <option value="open">May come</option>
          <option value="closed">Stay away; those on it stay</option>
          <option value="evicted">Stay away; those on it move elsewhere</option>
        </SelectField>
        <SpecFields disk={disk} errorAt={() => undefined} />
        <div className="flex flex-wrap justify-end gap-2">
          <span className="mr-auto">
            <RemoveButton disk={disk} onAsked={() => setRemoving(true)} />
          </span>
          <Button onClick={onDone}>Cancel</Button>
          <Button type="submit" variant="primary">
            Show the plan
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function SpecFields({
  disk,
  errorAt,
}: {
  disk: Disk | undefined;
  errorAt: (pointer: string) => string | undefined;
}) {
  return (
    <>
      <TextField
        label="Tags"
        name="tags"
        autoComplete="off"
        defaultValue={disk?.tags.join(', ')}
        hint="Separated by commas. Volumes whose disk selector names tags are placed only where all of them are."
        error={errorAt('/tags')}
      />
      <TextField
        label="Reserve in GiB"
        name="reserveGib"
        type="number"
        min={0}
        step="any"
        defaultValue={(disk?.storageReserved ?? 0) / GIB}
        hint="Kept free of copies, for others who use the disk."
        error={errorAt('/storageReserved')}
      />
    </>
  );
}

function RemoveButton({ disk, onAsked }: { disk: Disk; onAsked: () => void }) {
  return (
    <Button variant="danger" disabledReason={useRemovalReason(disk)} onClick={onAsked}>
      Remove…
    </Button>
  );
}

type Opening = 'open' | 'closed' | 'evicted';

function openingOf({ allowScheduling, evictionRequested }: Disk): Opening {
  if (evictionRequested) return 'evicted';
  return allowScheduling ? 'open' : 'closed';
}

function changeOf(form: FormData): NonNullable<PlannedRequest['body']> {
  const use = form.get('use');
  return { allowScheduling: use === 'open', evictionRequested: use === 'evicted', ...specOf(form) };
}

function newDiskOf(form: FormData): NewDisk {
  const gibibytes = Number(form.get('sizeGib'));
  return {
    path: String(form.get('path')).trim(),
    type: form.get('type') === 'block' ? 'block' : 'filesystem',
    allowScheduling: true,
    ...(gibibytes > 0 ? { size: Math.round(gibibytes * GIB) } : {}),
    ...specOf(form),
  };
}

function specOf(form: FormData): Pick<NewDisk, 'tags' | 'storageReserved'> {
  const tags = String(form.get('tags')).split(',');
  return {
    tags: tags.map((tag) => tag.trim()).filter((tag) => tag !== ''),
    storageReserved: Math.round(Number(form.get('reserveGib')) * GIB),
  };
}
