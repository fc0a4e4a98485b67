/**
 * Settings that a volume may override: which value is in effect, and whether the volume, its cluster or a default sets
 * it.
 *
 * Reconcilers, API, CLI and console all ask here, so that what is shown is what is done.
 */

import type { ClusterSettings, SettingName } from '../model/setting.js';
import { USER_SNAPSHOTS_MAX } from '../model/snapshot.js';
import type { VolumeSpec } from '../model/volume.js';

export type VolumeSettingName = Exclude<
  keyof VolumeSpec,
  'sizeBytes' | 'numberOfReplicas' | 'dataEngine' | 'nodeSelector' | 'diskSelector' | 'dataLocality'
>;

/** The setting of the cluster that a volume follows where it does not answer for itself. */
export const FOLLOWED_SETTINGS = {
  snapshotDataIntegrity: 'snapshot-data-integrity',
  snapshotMaxCount: 'snapshot-max-count',
  offlineRebuilding: 'offline-replica-rebuilding',
  replicaSoftAntiAffinity: 'replica-soft-anti-affinity',
  replicaZoneSoftAntiAffinity: 'replica-zone-soft-anti-affinity',
  replicaDiskSoftAntiAffinity: 'replica-disk-soft-anti-affinity',
  replicaDiskChoice: 'replica-disk-choice',
  replicaAutoBalance: 'replica-auto-balance',
} as const satisfies Record<VolumeSettingName, SettingName>;

/** In the order in which they are shown: what protects the data first, then where its copies go. */
export const VOLUME_SETTING_NAMES: readonly VolumeSettingName[] = Object.freeze(
  // The keys of an object that `satisfies` a record of exactly these names.
  Object.keys(FOLLOWED_SETTINGS) as VolumeSettingName[],
);

type Worded<Value> = Value extends boolean ? 'enabled' | 'disabled' : Value;
/** What is in effect, in the words of the volume: a switch of the cluster is `enabled` or `disabled`. */
export type EffectiveValue<Name extends VolumeSettingName> = Worded<
  ClusterSettings[(typeof FOLLOWED_SETTINGS)[Name]]
>;

/** What a volume says to follow its cluster. */
export function followingValue(name: VolumeSettingName): 'ignored' | 0 {
  return name === 'snapshotMaxCount' ? 0 : 'ignored';
}

/** The volume's own answer; `undefined` where it follows its cluster. */
export function ownValue(spec: VolumeSpec, name: VolumeSettingName): string | number | undefined {
  const own = spec[name];
  return own === undefined || own === followingValue(name) ? undefined : own;
}

/** The cluster's answer, in the words of a volume. */
export function clusterValue<Name extends VolumeSettingName>(
  settings: ClusterSettings,
  name: Name,
): EffectiveValue<Name> {
  const value = settings[FOLLOWED_SETTINGS[name]];
  const worded = typeof value === 'boolean' ? (value ? 'enabled' : 'disabled') : bounded(value);
  // Booleans have become words just now, which the compiler can't follow through the type of the name.
  return worded as EffectiveValue<Name>;
}

/** What is done: the volume's own answer, or else its cluster's. */
export function effectiveValue<Name extends VolumeSettingName>(
  spec: VolumeSpec,
  settings: ClusterSettings,
  name: Name,
): EffectiveValue<Name> {
  const own = ownValue(spec, name);
  // What a volume may say for itself are the values of the setting, in its own words.
  return own === undefined ? clusterValue(settings, name) : (bounded(own) as EffectiveValue<Name>);
}

/** The one count among them may be set to more than is ever taken: the other layers are kept for rebuilds. */
function bounded(value: string | number): string | number {
  return typeof value === 'number' ? Math.min(value, USER_SNAPSHOTS_MAX) : value;
}
