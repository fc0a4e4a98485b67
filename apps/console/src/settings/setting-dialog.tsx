'use client';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { SelectField, TextField } from '@holdfast/ui/field.js';
import { api } from '../api/client';
import type { Setting } from '../api/types';
import { useCluster } from '../api/use-cluster';
import { DialogForm } from '../shared/dialog-form';
import { enginesOf, rangeText, readForm, valueFor, valueText } from '../shared/setting-value';
import { useAction } from '../shared/use-action';

type Props = { setting: Setting; onDone: () => void };

/** Another value for the whole cluster, or back to the default, whatever a later version has that be. */
export function SettingDialog({ setting, onDone }: Props) {
  const cluster = useCluster();
  const { name, definition, isDefault } = setting;
  const save = useAction({
    run: (value: Setting['value'] | undefined) =>
      value === undefined ? api.resetSetting(cluster.id, name) : api.putSetting(cluster.id, name, value),
    done: (_, value) =>
      value === undefined
        ? `${name} is back at its default.`
        : `${name} is ${valueText(value, definition)} now.`,
    refusal: 'beside',
    stale: [['settings', cluster.id]],
    onDone,
  });
  return (
    <Dialog open onOpenChange={onDone} title={name} description={definition.description}>
      <DialogForm
        error={save.error}
        silence="There was no answer. It may have been set."
        busy={save.isPending}
        submitLabel="Save"
        onSubmit={(form) => save.mutate(readForm((field) => String(form.get(field)), definition))}
        onCancel={onDone}
        aside={!isDefault && <Button onClick={() => save.mutate(undefined)}>Back to the default</Button>}
      >
        {(errorAt) => <Choices setting={setting} error={errorAt('/value')} />}
      </DialogForm>
    </Dialog>
  );
}

/** One field, or one for the volumes of each data engine where these may differ. */
function Choices({ setting, error }: { setting: Setting; error: string | undefined }) {
  const engines = enginesOf(setting.definition);
  if (engines.length === 0)
    return <Choice setting={setting} field={{ label: 'Value', name: 'value' }} error={error} />;
  return engines.map((engine, index) => (
    <Choice
      key={engine}
      setting={{ ...setting, value: valueFor(setting, engine) }}
      field={{ label: `Volumes of ${engine}`, name: engine }}
      error={index === 0 ? error : undefined}
    />
  ));
}

type ChoiceProps = {
  setting: Setting;
  field: { label: string; name: string };
  error: string | undefined;
};

function Choice({ setting, field, error }: ChoiceProps) {
  const { definition, value } = setting;
  const { type, options } = definition;
  const byDefault = `By default ${valueText(setting.default, definition)}.`;
  const shared = { ...field, defaultValue: String(value), error };
  if (type === 'boolean' || (type === 'enum' && options !== undefined)) {
    return (
      <SelectField {...shared} hint={byDefault}>
        {(options ?? ['true', 'false']).map((option) => (
          <option key={option} value={option}>
            {valueText(option, definition)}
          </option>
        ))}
      </SelectField>
    );
  }
  const hints = [rangeText(definition), type === 'cron' ? 'A schedule in UTC.' : undefined, byDefault];
  return <TextField {...shared} autoFocus autoComplete="off" hint={hints.filter(Boolean).join(' ')} />;
}
