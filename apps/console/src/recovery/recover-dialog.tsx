'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { SelectField, TextField } from '@holdfast/ui/field.js';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client';
import { organizationApi } from '../api/organization';
import { keys } from '../api/queries';
import type { Recovery } from '../api/types';
import { useCluster } from '../api/use-cluster';
import { sentence } from '../sentence';
import { DialogForm } from '../shared/dialog-form';
import { useAction } from '../shared/use-action';
import { choiceOf, consentsTo, verdictWords } from './recovery-words';

/** Dialog to recover a lost volume: its copies, its name, and what a user has to agree to first. */
export function RecoverDialog({ item, onClose }: { item: Recovery; onClose: () => void }) {
  const cluster = useCluster();
  const projects = useQuery({
    queryKey: ['organization', 'projects'],
    queryFn: organizationApi.projects,
  });
  const recover = useAction({
    run: (form: FormData) => api.recover(cluster.id, item.volumeId, choiceOf(form, item)),
    done: ({ name }) => `${name} is recovered.`,
    refusal: 'beside',
    stale: [keys.orphans(cluster.id), keys.volumes(cluster.id), keys.disks(cluster.id)],
    onDone: onClose,
  });
  return (
    <Dialog open onOpenChange={onClose} title={`Recover ${item.name}?`} description={descriptionOf(item)}>
      <DialogForm
        error={recover.error}
        silence="There was no answer. It may have been done."
        busy={recover.isPending}
        submitLabel="Recover"
        onSubmit={recover.mutate}
        onCancel={onClose}
      >
        {(errorAt) => (
          <>
            <ul aria-label="Copies that were found" className="list-disc pl-5 text-sm">
              {item.copies.map((copy) => (
                <li key={copy.replicaId}>
                  {formatBytes(copy.writtenBytes)} on {copy.nodeName}, {copy.diskName}: {verdictWords(copy)}
                </li>
              ))}
            </ul>
            {item.obstacle !== null && <p className="text-sm text-warn">{sentence(item.obstacle.why)}</p>}
            {!item.isKnown && (
              <div className="grid gap-3 sm:grid-cols-2">
                <TextField
                  label="Name"
                  name="name"
                  defaultValue={item.name}
                  required
                  error={errorAt('/name')}
                />
                <SelectField
                  key={projects.isPending ? 'asked' : 'known'}
                  label="Project"
                  name="projectId"
                  defaultValue={item.projectId ?? ''}
                  required
                  error={errorAt('/projectId')}
                >
                  {item.projectId === null && <option value="">Choose one</option>}
                  {(projects.data ?? []).map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                </SelectField>
              </div>
            )}
            {consentsTo(item, cluster.id).map(({ name, value, label }) => (
              <label key={name} className="flex min-h-6 items-center gap-2 text-sm">
                <input type="checkbox" name={name} value={value} required />
                {label}
              </label>
            ))}
          </>
        )}
      </DialogForm>
    </Dialog>
  );
}

function descriptionOf({ isKnown }: Recovery): string {
  return isKnown
    ? 'The volume exists and gets its copies back, with every write that they hold.'
    : 'It is made again with its id, and with every write that these copies hold. Earlier engines can no longer write to them. Its labels, schedules and own settings are those of its last attach, and those of older versions were not stored: set missing ones again.';
}
