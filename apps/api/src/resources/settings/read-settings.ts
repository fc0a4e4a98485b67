import type { ClusterId } from '@holdfast/core/model/ids.js';
import { SETTINGS } from '@holdfast/core/model/setting.js';
import { VOLUME_OVERRIDES } from '@holdfast/core/model/volume-overrides.js';
import { definitionOf, parseSettingValue } from '@holdfast/core/settings/effective.js';
import { findSettings, type StoredSettings } from '@holdfast/database/queries/clusters.js';
import { findSettingOverrides, type SettingOverrides } from '@holdfast/database/queries/setting-overrides.js';
import type { z } from 'zod';
import type { Tenant } from '../../access/tenant.js';
import { clusterNotFound } from '../clusters/require-cluster.js';
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

/** Settings of the cluster, also of a granted one, which apply to the organization's volumes. */
export async function readVolumeOverrides(
  tenant: Tenant,
  clusterId: ClusterId,
): Promise<StoredSettings['overrides']> {
  const stored = await tenant.readGranted((sql) => findSettings(sql, clusterId));
  if (stored === undefined) throw clusterNotFound(clusterId);
  return stored.overrides;
}

type Stored = StoredSettings & { readonly overriding: SettingOverrides };

async function readStored(tenant: Tenant, clusterId: ClusterId): Promise<Stored> {
  const stored = await tenant.read(async (sql) => {
    const settings = await findSettings(sql, clusterId);
    return settings && { ...settings, overriding: await findSettingOverrides(sql, clusterId) };
  });
  if (stored === undefined) throw clusterNotFound(clusterId);
  return stored;
}

const NO_CLUSTERS = { total: 0, shown: [] };

/** Overrides of the setting, as far as the caller may see them. */
function overridesView(name: string, { volumes, clusters }: SettingOverrides): SettingView['overrides'] {
  const field = VOLUME_OVERRIDES.find(({ follows }) => follows === name)?.field;
  const { total, shown } = clusters.get(name) ?? NO_CLUSTERS;
  return {
    volumes: field === undefined ? null : { field, total: volumes.get(field) ?? 0 },
    clusters: { total, shown: shown.map(({ id, name: cluster }) => ({ id, name: cluster })) },
  };
}

function settingView(name: string, { overrides, overriding, version }: Stored): SettingView {
  const definition = definitionOf(name);
  const { default: byDefault, type, category, description } = definition;
  const isDefault = !Object.hasOwn(overrides, name);
  return {
    name,
    value: isDefault ? byDefault : parseSettingValue(name, overrides[name]),
    default: byDefault,
    isDefault,
    overrides: overridesView(name, overriding),
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
