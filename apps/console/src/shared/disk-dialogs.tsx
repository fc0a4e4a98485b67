'use client';
import { formatBytes, GIB } from '@holdfast/core/model/bytes.js';
import { decideDiskRemoval } from '@holdfast/core/policy/decide-disk-change.js';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { SelectField, TextField } from '@holdfast/ui/field.js';
import { useState } from 'react';
import { api, type DiskChange, type NewDisk } from '../api/client';
import type { Disk, StorageNode } from '../api/types';
import { useForbidden } from '../api/use-access';
import { useCluster } from '../api/use-cluster';
import { DialogForm } from './dialog-form';
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
      description="Its agent sets the disk up, and the list says when it is ready or why it can't be used."
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
              hint="Most that its copies may take. Empty: what its agent gives a new disk; a device has its own."
              error={errorAt('/size')}
            />
            <SpecFields disk={undefined} errorAt={errorAt} />
          </>
        )}
      </DialogForm>
    </Dialog>
  );
}

/** Opens the form with what is wanted of a disk, and the way to take it off its node. */
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

function DiskDialog({ disk, onDone }: { disk: Disk; onDone: () => void }) {
  const cluster = useCluster();
  const save = useNodeChange({
    run: (form: FormData) => api.patchDisk(cluster.id, disk, changeOf(form)),
    done: `${disk.name} is changed.`,
    refusal: 'beside',
    onDone,
  });
  return (
    <Dialog
      open
      onOpenChange={onDone}
      title={`Disk ${disk.name}`}
      description={`${disk.path}, ${formatBytes(disk.storageMaximum)}`}
    >
      <DialogForm
        error={save.error}
        silence="There was no answer. It may have been changed."
        busy={save.isPending}
        submitLabel="Save"
        onSubmit={save.mutate}
        onCancel={onDone}
        aside={<RemoveButton disk={disk} onDone={onDone} />}
      >
        {(errorAt) => (
          <>
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
            <SpecFields disk={disk} errorAt={errorAt} />
          </>
        )}
      </DialogForm>
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
        hint="With commas between them. Volumes whose disk selector names tags are placed only where all of them are."
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

function RemoveButton({ disk, onDone }: { disk: Disk; onDone: () => void }) {
  const cluster = useCluster();
  const [isSure, setSure] = useState(false);
  const remove = useNodeChange({
    run: () => api.removeDisk(cluster.id, disk),
    done: `${disk.name} is being removed.`,
    refusal: 'noted',
    onDone,
  });
  const { storageScheduled, removalRequestedAt, evictionRequested, name } = disk;
  const decision = decideDiskRemoval({
    disk: {
      name,
      evictionRequested,
      storageScheduledBytes: storageScheduled,
      removalRequestedAt: removalRequestedAt === null ? undefined : new Date(removalRequestedAt),
    },
    orphans: 0,
  });
  const reason = decision.kind === 'allow' ? undefined : decision.why;
  return (
    <Button
      variant="danger"
      disabledReason={reason}
      busy={remove.isPending}
      onClick={() => (isSure ? remove.mutate() : setSure(true))}
    >
      {isSure ? `Remove ${name} from its node` : 'Remove…'}
    </Button>
  );
}

type Opening = 'open' | 'closed' | 'evicted';

function openingOf({ allowScheduling, evictionRequested }: Disk): Opening {
  if (evictionRequested) return 'evicted';
  return allowScheduling ? 'open' : 'closed';
}

function changeOf(form: FormData): DiskChange {
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
