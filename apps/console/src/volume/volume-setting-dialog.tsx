'use client';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { SelectField, TextField } from '@holdfast/ui/field.js';
import { api, type VolumeChange } from '../api/client';
import { keys } from '../api/queries';
import type { Volume, VolumeSetting } from '../api/types';
import { useCluster } from '../api/use-cluster';
import { DialogForm } from '../shared/dialog-form';
import { useAction } from '../shared/use-action';
import { settingName, settingValue } from '../shared/volume-settings';

type Props = { volume: Volume; one: VolumeSetting; onDone: () => void };

/** The volume's own answer, or back to what its cluster says, whatever that will be. */
export function VolumeSettingDialog({ volume, one, onDone }: Props) {
  const cluster = useCluster();
  const save = useAction({
    run: (value: string | number) => {
      // The API gave the field and the values it takes together; which belongs to which, only it knows.
      const change = { [one.name]: value } as VolumeChange;
      return api.patchVolume(cluster.id, volume.id, change);
    },
    done: (_, value) =>
      value === one.followWith
        ? `${volume.name} follows its cluster: ${settingName(one.name)}.`
        : `${volume.name} has its own answer now: ${settingName(one.name)}.`,
    refusal: 'beside',
    stale: [keys.volume(cluster.id, volume.id), keys.volumeSettings(cluster.id, volume.id)],
    onDone,
  });
  return (
    <Dialog
      open
      onOpenChange={onDone}
      title={`${settingName(one.name)}: ${volume.name}`}
      description={one.definition.description}
    >
      <DialogForm
        error={save.error}
        silence="There was no answer. It may have been set."
        busy={save.isPending}
        submitLabel="Save"
        onSubmit={(form) => save.mutate(given(one, form))}
        onCancel={onDone}
        aside={
          one.own !== null && <Button onClick={() => save.mutate(one.followWith)}>Follow the cluster</Button>
        }
      >
        {(errorAt) => <Choice one={one} error={errorAt(`/${one.name}`)} />}
      </DialogForm>
    </Dialog>
  );
}

function given({ followWith }: VolumeSetting, form: FormData): string | number {
  const value = String(form.get('value'));
  return typeof followWith === 'number' ? Number(value) : value;
}

function Choice({ one, error }: { one: VolumeSetting; error: string | undefined }) {
  const { options, min, max } = one.definition;
  const byCluster = settingValue(one.name, one.clusterValue);
  if (options === undefined) {
    return (
      <TextField
        label="Value"
        name="value"
        type="number"
        min={min}
        max={max}
        required
        autoFocus
        defaultValue={String(one.value)}
        hint={`From ${min} to ${max}${min === -1 ? ' (-1: never)' : ''}. The cluster says ${byCluster}.`}
        error={error}
      />
    );
  }
  return (
    <SelectField
      label="Value"
      name="value"
      defaultValue={String(one.own ?? one.followWith)}
      hint="Settings that follow the cluster change with it."
      error={error}
    >
      <option value={String(one.followWith)}>As the cluster ({byCluster})</option>
      {options.map((option) => (
        <option key={option} value={option}>
          {settingValue(one.name, option)}
        </option>
      ))}
    </SelectField>
  );
}
