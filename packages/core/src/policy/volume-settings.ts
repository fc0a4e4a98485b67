/**
 * Settings that a volume may override: which value is in effect, and whether the volume, its cluster or a default sets
 * it.
 *
 * Reconcilers, API, CLI and console all ask here, so that what is shown is what is done.
 */

import { Bug } from '../model/faults.js';
import type { ClusterSettings } from '../model/setting.js';
import { USER_SNAPSHOTS_MAX } from '../model/snapshot.js';
import type { VolumeSpec } from '../model/volume.js';
import {
  type FollowedSetting,
  followingValue,
  type OverrideField,
  VOLUME_OVERRIDES,
  type VolumeOverride,
} from '../model/volume-overrides.js';
import { settingsOf } from '../settings/engine-maps.js';

const BY_FIELD: ReadonlyMap<OverrideField, VolumeOverride> = new Map(
  VOLUME_OVERRIDES.map((override) => [override.field, override]),
);

type Worded<Value> = Value extends boolean ? 'enabled' | 'disabled' : Value;
/** What is in effect, in the words of the volume: a switch of the cluster is `enabled` or `disabled`. */
export type EffectiveValue<Field extends OverrideField> = Worded<ClusterSettings[FollowedSetting<Field>]>;

/** The volume's own answer; `undefined` where it follows its cluster. */
export function ownValue(spec: VolumeSpec, field: OverrideField): string | number | undefined {
  const own = spec[field];
  return own === followingValue(overrideOf(field)) ? undefined : own;
}

/** The cluster's answer to volumes of its data engine, in the words of a volume. */
export function clusterValue<Field extends OverrideField>(
  { dataEngine }: Pick<VolumeSpec, 'dataEngine'>,
  settings: ClusterSettings,
  field: Field,
): EffectiveValue<Field> {
  const value = settingsOf(settings, dataEngine)[overrideOf(field).follows];
  const worded = typeof value === 'boolean' ? (value ? 'enabled' : 'disabled') : bounded(value, field);
  // Booleans have become words just now, which the compiler can't follow through the type of the field.
  return worded as EffectiveValue<Field>;
}

/** What is done: the volume's own answer, or else its cluster's. */
export function effectiveValue<Field extends OverrideField>(
  spec: VolumeSpec,
  settings: ClusterSettings,
  field: Field,
): EffectiveValue<Field> {
  const own = ownValue(spec, field);
  // What a volume may say for itself are the values of the setting, in its own words.
  return own === undefined
    ? clusterValue(spec, settings, field)
    : (bounded(own, field) as EffectiveValue<Field>);
}

/** A number of snapshots may be set to more than are ever taken: the other layers are kept for rebuilds. */
function bounded(value: string | number, field: OverrideField): string | number {
  return typeof value === 'number' && field === 'snapshotMaxCount'
    ? Math.min(value, USER_SNAPSHOTS_MAX)
    : value;
}

function overrideOf(field: OverrideField): VolumeOverride {
  const override = BY_FIELD.get(field);
  if (override === undefined) throw new Bug(`no setting is answered by ${field}`);
  return override;
}
