/** Changes of a simulated cluster's settings, under the rules of the API. */

import { faultOf } from '@holdfast/control/use-cases/use-case.js';
import type { SettingName } from '@holdfast/core/model/setting.js';
import { decideSetting } from '@holdfast/core/policy/decide-setting.js';
import {
  definitionOf,
  isSettingName,
  parseSettingValue,
  type SettingValue,
} from '@holdfast/core/settings/effective.js';
import type { World } from '../world.js';

/** @throws StorageFault `setting.not_found`, `setting.invalid`; those before it are changed then */
export async function changeSettings(
  { store, clusterId }: World,
  wanted: Readonly<Record<string, SettingValue>>,
): Promise<void> {
  for (const [name, raw] of Object.entries(wanted)) {
    const value = parseSettingValue(name, raw);
    const { settings } = await store.loadFleet(clusterId);
    const decision = decideSetting({ ...settings, [name]: value }, name);
    if (decision.kind === 'refuse') throw faultOf(decision);
    store.setSetting(clusterId, known(name), value);
  }
}

function known(name: string): SettingName {
  if (isSettingName(name)) return name;
  definitionOf(name);
  throw new TypeError(`${name} is no setting`);
}
