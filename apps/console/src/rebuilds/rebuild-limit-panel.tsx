'use client';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { Panel } from '@holdfast/ui/panel.js';
import type { FormEvent } from 'react';
import { api } from '../api/client';
import { isProblem } from '../api/problem';
import { keys, useSetting } from '../api/queries';
import type { Setting } from '../api/types';
import { useForbidden } from '../api/use-access';
import { useCluster } from '../api/use-cluster';
import { Loaded } from '../shared/loaded';
import { valueText } from '../shared/setting-value';
import { useAction } from '../shared/use-action';

const BANDWIDTH = 'replica-rebuilding-bandwidth-limit';

/** Bandwidth of all rebuilds that write to one node: it applies to running ones, too. */
export function RebuildLimitPanel() {
  const setting = useSetting(BANDWIDTH);
  return (
    <Panel title="Bandwidth of rebuilds" hint="For each node that receives; its rebuilds share it">
      <Loaded query={setting} what="the limit" rows={1}>
        {/* A new value is a new form, so that it shows the value in effect. */}
        {(data) => <LimitForm key={String(data.value)} setting={data} />}
      </Loaded>
    </Panel>
  );
}

function hintFor({ value, definition }: Setting): string {
  if (typeof value !== 'number')
    return `Set for each data engine: ${valueText(value, definition)}. A number is shared by both.`;
  return value === 0 ? 'No limit is set.' : '0 removes the limit.';
}

function LimitForm({ setting }: { setting: Setting }) {
  const cluster = useCluster();
  const forbidden = useForbidden()('setting:write');
  const save = useAction({
    run: (value: number) => api.putSetting(cluster.id, setting.name, value),
    done: (_, value) =>
      value === 0
        ? 'Rebuilds have no limit of bandwidth now.'
        : `Rebuilds may write ${value} MiB/s to each node.`,
    refusal: 'beside',
    stale: [keys.setting(cluster.id, setting.name), keys.rebuilds(cluster.id)],
  });
  const refusal = isProblem(save.error) ? save.error.detail : 'There was no answer. It may have been set.';

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (forbidden === undefined) save.mutate(Number(new FormData(event.currentTarget).get('limit')));
  }

  return (
    <form onSubmit={submit} className="flex flex-wrap items-end gap-3">
      <div className="w-44">
        <TextField
          label="MiB/s for each node"
          name="limit"
          type="number"
          min={0}
          step={1}
          max={setting.definition.max}
          required
          defaultValue={typeof setting.value === 'number' ? setting.value : ''}
          hint={hintFor(setting)}
          error={save.error === null ? undefined : refusal}
        />
      </div>
      {/* The line of the hint is below the field, the button beside it. */}
      <div className="pb-5">
        <Button type="submit" busy={save.isPending} disabledReason={forbidden}>
          Set limit
        </Button>
      </div>
    </form>
  );
}
