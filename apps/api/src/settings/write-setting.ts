import { definitionOf, parseSettingValue } from '@holdfast/core/settings/effective.js';
import { changeSetting } from '@holdfast/database/settings.js';
import { clusterNotFound } from '../clusters/require-cluster.js';
import type { Tenant } from '../platform/tenant.js';
import { readSetting, type SettingView } from './read-settings.js';
import type { SettingPath } from './setting.schemas.js';

/** @throws StorageFault `setting.not_found`, `setting.invalid`, `cluster.not_found` */
export function setSetting(tenant: Tenant, path: SettingPath, value: unknown): Promise<SettingView> {
  return change(tenant, path, parseSettingValue(path.name, value));
}

/** Back to its default. @throws StorageFault `setting.not_found`, `cluster.not_found` */
export async function resetSetting(tenant: Tenant, path: SettingPath): Promise<SettingView> {
  definitionOf(path.name);
  return change(tenant, path, undefined);
}

async function change(
  tenant: Tenant,
  { clusterId, name }: SettingPath,
  value: unknown,
): Promise<SettingView> {
  const found = await tenant.write((sql) => changeSetting(sql, clusterId, { name, value, now: tenant.now }));
  if (!found) throw clusterNotFound(clusterId);
  return readSetting(tenant, clusterId, name);
}
