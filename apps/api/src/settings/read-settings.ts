import type { ClusterId } from '@holdfast/core/model/ids.js';
import { SETTINGS } from '@holdfast/core/model/setting.js';
import { definitionOf, parseSettingValue } from '@holdfast/core/settings/effective.js';
import { findSettings, type StoredSettings } from '@holdfast/database/queries/clusters.js';
import type { z } from 'zod';
import { clusterNotFound } from '../clusters/require-cluster.js';
import type { Tenant } from '../platform/tenant.js';
import type { settingSchema } from './setting.schemas.js';

export type SettingView = z.infer<typeof settingSchema>;

/** Every setting of a cluster, with its definition, the value in effect and the default. */
export async function readSettings(tenant: Tenant, clusterId: ClusterId): Promise<SettingView[]> {
  const stored = await readStored(tenant, clusterId);
  return Object.keys(SETTINGS).map((name) => settingView(name, stored));
}

/** @throws StorageFault `setting.not_found`, `cluster.not_found` */
export async function readSetting(tenant: Tenant, clusterId: ClusterId, name: string): Promise<SettingView> {
  return settingView(name, await readStored(tenant, clusterId));
}

/** What was set in the cluster, also in a granted one: for what its settings mean for a volume of the organization. */
export async function readVolumeOverrides(
  tenant: Tenant,
  clusterId: ClusterId,
): Promise<StoredSettings['overrides']> {
  const stored = await tenant.readGranted((sql) => findSettings(sql, clusterId));
  if (stored === undefined) throw clusterNotFound(clusterId);
  return stored.overrides;
}

async function readStored(tenant: Tenant, clusterId: ClusterId): Promise<StoredSettings> {
  const stored = await tenant.read((sql) => findSettings(sql, clusterId));
  if (stored === undefined) throw clusterNotFound(clusterId);
  return stored;
}

function settingView(name: string, { overrides, version }: StoredSettings): SettingView {
  const definition = definitionOf(name);
  const { default: byDefault, type, category, description } = definition;
  const isDefault = !Object.hasOwn(overrides, name);
  return {
    name,
    value: isDefault ? byDefault : parseSettingValue(name, overrides[name]),
    default: byDefault,
    isDefault,
    definition: {
      type,
      category,
      description,
      ...('min' in definition ? { min: definition.min, max: definition.max } : {}),
      ...('mayBeUnlimited' in definition ? { mayBeUnlimited: true } : {}),
      ...('unit' in definition && definition.unit !== undefined ? { unit: definition.unit } : {}),
      ...('options' in definition ? { options: [...definition.options] } : {}),
      ...(definition.engines === undefined ? {} : { engines: [...definition.engines] }),
    },
    version,
  };
}
