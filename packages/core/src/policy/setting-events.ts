import type { ClusterEvent } from '../model/event.js';
import type { ClusterId } from '../model/ids.js';
import { type ClusterSettings, SETTINGS, type SettingName, UNLIMITED } from '../model/setting.js';

/** Events of settings whose effective value has changed. */
export function settingEvents(
  clusterId: ClusterId,
  { before, after, at }: { before: ClusterSettings; after: ClusterSettings; at: Date },
): ClusterEvent[] {
  return settingNames()
    .filter((name) => textOf(before, name) !== textOf(after, name))
    .map((name) => ({
      clusterId,
      type: 'SettingChanged',
      subject: { kind: 'setting', id: name },
      volumeId: undefined,
      message: `${name} is ${textOf(after, name)}, was ${textOf(before, name)}`,
      at,
    }));
}

function settingNames(): SettingName[] {
  // The keys of a constant table are the names of its type.
  return Object.keys(SETTINGS) as SettingName[];
}

/** With a value for each engine where the cluster says so. */
function textOf(settings: ClusterSettings, name: SettingName): string {
  const own = Object.entries(settings.ofEngine ?? {}).flatMap(([engine, values]) =>
    values[name] === undefined ? [] : [`${wordOf(values[name])} for ${engine}`],
  );
  return own.length === 0 ? wordOf(settings[name]) : own.join(', ');
}

function wordOf(value: ClusterSettings[SettingName]): string {
  if (value === '') return 'empty';
  return value === Number.POSITIVE_INFINITY ? UNLIMITED : String(value);
}
