'use client';
import { decideChange } from '@holdfast/core/policy/decide-change.js';
import { Button } from '@holdfast/ui/button.js';
import { Panel } from '@holdfast/ui/panel.js';
import { Pencil } from 'lucide-react';
import { useState } from 'react';
import { reasonOf } from '../actions';
import { useVolumeSettings } from '../api/queries';
import type { Volume, VolumeSetting } from '../api/types';
import { useForbidden } from '../api/use-access';
import { Loaded } from '../shared/loaded';
import { settingName, settingValue } from '../shared/volume-settings';
import { useActionFacts } from './use-action-facts';
import { VolumeSettingDialog } from './volume-setting-dialog';

/** The volume's own settings, those that follow its cluster, and the values in effect. */
export function VolumeSettingsPanel({ volume }: { volume: Volume }) {
  const settings = useVolumeSettings(volume.id);
  const [editing, setEditing] = useState<VolumeSetting>();
  const changing = reasonOf(decideChange(useActionFacts(volume)));
  const blocked = useForbidden(volume.projectId)('volume:write') ?? changing;
  return (
    <Panel title="Settings of this volume" hint="In effect now, and its source" flush>
      <Loaded query={settings} what="the settings" rows={6}>
        {(data) => (
          <ul>
            {data.map((one) => (
              <li
                key={one.name}
                className="flex items-center gap-2 border-b border-border py-1.5 pr-2 pl-4 last:border-0"
              >
                <span className="min-w-0 flex-1">
                  <span className="block text-sm">{settingName(one.name)}</span>
                  <Source one={one} />
                </span>
                <span className="text-right text-sm font-medium tabular-nums">
                  {settingValue(one.name, one.value)}
                </span>
                <Button
                  variant="ghost"
                  aria-label={`Change: ${settingName(one.name)}`}
                  disabledReason={blocked}
                  onClick={() => setEditing(one)}
                >
                  <Pencil aria-hidden size={15} />
                </Button>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {editing !== undefined && (
        <VolumeSettingDialog volume={volume} one={editing} onDone={() => setEditing(undefined)} />
      )}
    </Panel>
  );
}

function Source({ one }: { one: VolumeSetting }) {
  if (one.source === 'volume') {
    return (
      <span className="block text-xs text-muted">
        <span className="font-medium text-accent">Set here</span>, the cluster says{' '}
        {settingValue(one.name, one.clusterValue)}
      </span>
    );
  }
  return (
    <span className="block text-xs text-muted">
      {one.source === 'cluster' ? 'From the cluster' : "The cluster's default"}
    </span>
  );
}
