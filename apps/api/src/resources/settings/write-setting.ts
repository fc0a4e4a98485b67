import { changeSetting } from '@holdfast/control/use-cases/change-setting.js';
import { accessPorts } from '../../access/access-ports.js';
import type { Tenant } from '../../access/tenant.js';
import { readSetting, type SettingView } from './read-settings.js';
import type { SettingPath } from './setting.schemas.js';

/** @throws StorageFault `setting.not_found`, `setting.invalid`, `cluster.not_found` */
export async function setSetting(
  tenant: Tenant,
  { clusterId, name }: SettingPath,
  value: unknown,
  ifVersion?: number,
): Promise<SettingView> {
  await changeSetting(accessPorts(tenant), clusterId, { name, value, ifVersion });
  return readSetting(tenant, clusterId, name);
}

/**
 * Resets it to its default.
 * @throws StorageFault `setting.not_found`, `cluster.not_found`
 */
export function resetSetting(tenant: Tenant, path: SettingPath, ifVersion?: number): Promise<SettingView> {
  return setSetting(tenant, path, undefined, ifVersion);
}
