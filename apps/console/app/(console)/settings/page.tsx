'use client';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { Pencil } from 'lucide-react';
import { useState } from 'react';
import { useSettings } from '../../../src/api/queries';
import type { Setting } from '../../../src/api/types';
import { useForbidden } from '../../../src/api/use-access';
import { SettingDialog } from '../../../src/settings/setting-dialog';
import { Loaded } from '../../../src/shared/loaded';
import { PageHeader } from '../../../src/shared/page-header';
import { matches, valueText } from '../../../src/shared/setting-value';

export default function SettingsPage() {
  const settings = useSettings();
  const [search, setSearch] = useState('');
  const [onlySet, setOnlySet] = useState(false);
  const [editing, setEditing] = useState<Setting>();
  return (
    <>
      <title>Settings · Holdfast</title>
      <PageHeader
        title="Settings"
        subtitle="What holds for the whole cluster, unless a volume says otherwise."
      />
      <div className="mb-4 flex flex-wrap items-end gap-4">
        <div className="w-full sm:w-80">
          <TextField
            label="Search settings"
            type="search"
            value={search}
            onChange={(event) => setSearch(event.target.value)}
          />
        </div>
        <label className="flex h-8 items-center gap-2 text-sm">
          <input type="checkbox" checked={onlySet} onChange={(event) => setOnlySet(event.target.checked)} />
          Only those set here
        </label>
      </div>
      <Loaded query={settings} what="the settings" rows={8}>
        {(data) => {
          const found = data.filter((one) => matches(one, search) && (!onlySet || !one.isDefault));
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

/** In the order in which the API tells them. */
function byCategory(settings: readonly Setting[]): [string, Setting[]][] {
  const groups = new Map<string, Setting[]>();
  for (const setting of settings) {
    const { category } = setting.definition;
    groups.set(category, [...(groups.get(category) ?? []), setting]);
  }
  return [...groups];
}
