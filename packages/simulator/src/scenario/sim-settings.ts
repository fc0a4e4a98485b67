import { changeSetting } from '@holdfast/control/use-cases/change-setting.js';
import type { SettingValue } from '@holdfast/core/settings/effective.js';
import { MemoryAccess } from '../store/memory-access.js';
import type { World } from '../world.js';

/**
 * Changes of a simulated cluster's settings, as the API makes them.
 *
 * @throws StorageFault `setting.not_found`, `setting.invalid`; those before it are changed then
 */
export async function changeSettings(
  { store, clusterId, clock }: World,
  wanted: Readonly<Record<string, SettingValue>>,
): Promise<void> {
  const ports = { access: new MemoryAccess(store), clock };
  for (const [name, value] of Object.entries(wanted)) await changeSetting(ports, clusterId, { name, value });
}
