'use client';
import { Button } from '@holdfast/ui/button.js';
import { Message, Skeleton } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { Pencil } from 'lucide-react';
import Link from 'next/link';
import { Suspense, useState } from 'react';
import { useSettings } from '../../../src/api/queries';
import type { Setting } from '../../../src/api/types';
import { useForbidden } from '../../../src/api/use-access';
import { paths } from '../../../src/paths';
import { SettingDialog } from '../../../src/settings/setting-dialog';
import { useSettingsState } from '../../../src/settings/use-settings-state';
import { CopyQuestionAs } from '../../../src/shared/copy-question';
import { FilterInput } from '../../../src/shared/filter-input';
import { Loaded } from '../../../src/shared/loaded';
import { PageHeader } from '../../../src/shared/page-header';
import { matches, valueText } from '../../../src/shared/setting-value';

export default function SettingsPage() {
  return (
    <>
      <title>Settings · Holdfast</title>
      <PageHeader
        title="Settings"
        subtitle="Settings of the whole cluster, unless a volume overrides them."
        actions={<CopyQuestionAs question={{ path: '/clusters/{clusterId}/settings' }} />}
      />
      <Suspense fallback={<Skeleton rows={8} />}>
        <Settings />
      </Suspense>
    </>
  );
}

function Settings() {
  const settings = useSettings();
  const [{ text, isSet, isOverridden }, change] = useSettingsState();
  const [editing, setEditing] = useState<Setting>();
  return (
    <>
      <search className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2">
        <FilterInput
          label="Search settings"
          placeholder="Name, or a word of the description"
          value={text}
          onChange={(next) => change({ text: next })}
        />
        <Check label="Only those set here" checked={isSet} onChange={(on) => change({ isSet: on })} />
        <Check
          label="Only those that volumes override"
          checked={isOverridden}
          onChange={(on) => change({ isOverridden: on })}
        />
      </search>
      <Loaded query={settings} what="the settings" rows={8}>
        {(data) => {
          const found = data.filter(
            (one) =>
              matches(one, text) &&
              (!isSet || !one.isDefault) &&
              (!isOverridden || (one.overrides.volumes?.total ?? 0) > 0),
          );
          if (found.length === 0) return <Message title="No setting matches" />;
          return (
            <div className="flex flex-col gap-4">
              {byCategory(found).map(([category, members]) => (
                <Category key={category} name={category} settings={members} onEdit={setEditing} />
              ))}
            </div>
          );
        }}
      </Loaded>
      {editing !== undefined && <SettingDialog setting={editing} onDone={() => setEditing(undefined)} />}
    </>
  );
}

type CheckProps = { label: string; checked: boolean; onChange: (checked: boolean) => void };

function Check({ label, checked, onChange }: CheckProps) {
  return (
    <label className="flex min-h-8 items-center gap-2 text-sm">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      {label}
    </label>
  );
}

type CategoryProps = { name: string; settings: readonly Setting[]; onEdit: (setting: Setting) => void };

function Category({ name, settings, onEdit }: CategoryProps) {
  return (
    <Panel title={name.charAt(0).toUpperCase() + name.slice(1)} flush>
      <ul>
        {settings.map((setting) => (
          <Row key={setting.name} setting={setting} onEdit={onEdit} />
        ))}
      </ul>
    </Panel>
  );
}

function Row({ setting, onEdit }: { setting: Setting; onEdit: CategoryProps['onEdit'] }) {
  const { name, definition, isDefault, value } = setting;
  const forbidden = useForbidden()('setting:write');
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-border py-2 pr-2 pl-4 last:border-0">
      <span className="min-w-0 flex-1 basis-72">
        <span className="block font-mono text-sm break-words">{name}</span>
        <span className="block text-xs text-muted">{definition.description}</span>
        <Overrides setting={setting} />
      </span>
      <span className="text-right text-sm max-sm:flex-1 max-sm:text-left">
        <span className="block font-medium tabular-nums">{valueText(value, definition)}</span>
        <span className="block text-xs text-muted">
          {isDefault ? 'Default' : `Set here, default ${valueText(setting.default, definition)}`}
        </span>
      </span>
      <Button
        variant="ghost"
        aria-label={`Change: ${name}`}
        disabledReason={forbidden}
        onClick={() => onEdit(setting)}
      >
        <Pencil aria-hidden size={15} />
      </Button>
    </li>
  );
}

/** Who answers it otherwise: volumes of this cluster, as a link to their list, and the other clusters that set it. */
function Overrides({ setting: { overrides } }: { setting: Setting }) {
  const { volumes, clusters } = overrides;
  const names = clusters.shown.map(({ name }) => name).join(', ');
  const more = clusters.total - clusters.shown.length;
  return (
    <span className="flex flex-wrap items-center gap-x-3 text-xs text-muted">
      {volumes !== null && volumes.total > 0 && (
        <Link
          href={paths.volumesThat(`overrides=${volumes.field}`)}
          className="inline-flex min-h-6 items-center text-accent hover:underline"
        >
          {volumes.total === 1
            ? '1 volume overrides it'
            : `${volumes.total.toLocaleString('en')} volumes override it`}
        </Link>
      )}
      {volumes !== null && volumes.total === 0 && <span>No volume overrides it</span>}
      {clusters.total > 0 && (
        <span>
          Also set in {names}
          {more > 0 && ` and ${more.toLocaleString('en')} more`}
        </span>
      )}
    </span>
  );
}

/** In the order of the API. */
function byCategory(settings: readonly Setting[]): [string, Setting[]][] {
  const groups = new Map<string, Setting[]>();
  for (const setting of settings) {
    const { category } = setting.definition;
    groups.set(category, [...(groups.get(category) ?? []), setting]);
  }
  return [...groups];
}
