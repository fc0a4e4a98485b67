import type { ClusterEvent } from '../model/event.js';
import type { ClusterId } from '../model/ids.js';
import { type ClusterSettings, SETTINGS, type SettingName } from '../model/setting.js';

/** Events of settings whose effective value has changed. */
export function settingEvents(
  clusterId: ClusterId,
  { before, after, at }: { before: ClusterSettings; after: ClusterSettings; at: Date },
): ClusterEvent[] {
  return settingNames()
    .filter((name) => before[name] !== after[name])
    .map((name) => ({
      clusterId,
      type: 'SettingChanged',
      subject: { kind: 'setting', id: name },
      volumeId: undefined,
      message: `${name} is ${textOf(after[name])}, was ${textOf(before[name])}`,
      at,
    }));
}

function settingNames(): SettingName[] {
  // The keys of a constant table are the names of its type.
  return Object.keys(SETTINGS) as SettingName[];
}

function textOf(value: ClusterSettings[SettingName]): string {
  return value === '' ? 'empty' : String(value);
}
