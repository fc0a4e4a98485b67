import { definitionOf, parseSettingValue } from '@holdfast/core/settings/effective.js';
import { changeSetting } from '@holdfast/database/settings.js';
import type { Tenant } from '../../access/tenant.js';
import { clusterNotFound } from '../clusters/require-cluster.js';
import { readSetting, type SettingView } from './read-settings.js';
import type { SettingPath } from './setting.schemas.js';

/** @throws StorageFault `setting.not_found`, `setting.invalid`, `cluster.not_found` */
export function setSetting(
  tenant: Tenant,
  path: SettingPath,
  value: unknown,
  ifVersion?: number,
): Promise<SettingView> {
  return change(tenant, path, { value: parseSettingValue(path.name, value), ifVersion });
}

/** Back to its default. @throws StorageFault `setting.not_found`, `cluster.not_found` */
export async function resetSetting(
  tenant: Tenant,
  path: SettingPath,
  ifVersion?: number,
): Promise<SettingView> {
  definitionOf(path.name);
  return change(tenant, path, { value: undefined, ifVersion });
}

async function change(
  tenant: Tenant,
  { clusterId, name }: SettingPath,
  wanted: { value: unknown; ifVersion: number | undefined },
): Promise<SettingView> {
  const found = await tenant.write((sql) =>
    changeSetting(sql, clusterId, { name, ...wanted, now: tenant.now }),
  );
  if (!found) throw clusterNotFound(clusterId);
  return readSetting(tenant, clusterId, name);
}
