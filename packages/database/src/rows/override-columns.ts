/**
 * Columns of a volume's overrides (its own answers to settings). The first eight have a column each, because versions that
 * are still out read and write those; all others are keys of one JSON column, so that a new one needs no migration.
 */
import type { BandwidthSpec } from '@holdfast/core/model/views.js';
import type { Volume, VolumeSpec } from '@holdfast/core/model/volume.js';
import {
  followingValue,
  type OverrideField,
  overridesFrom,
  VOLUME_OVERRIDES,
  type VolumeOverrides,
} from '@holdfast/core/model/volume-overrides.js';
import { asJson, type Column, columnsOf } from '../sql/table.js';

const OWN_COLUMNS = {
  replicaSoftAntiAffinity: 'replica_soft_anti_affinity',
  replicaZoneSoftAntiAffinity: 'replica_zone_soft_anti_affinity',
  replicaDiskSoftAntiAffinity: 'replica_disk_soft_anti_affinity',
  replicaAutoBalance: 'replica_auto_balance',
  replicaDiskChoice: 'replica_disk_choice',
  snapshotDataIntegrity: 'snapshot_data_integrity',
  snapshotMaxCount: 'snapshot_max_count',
  offlineRebuilding: 'offline_rebuilding',
} as const satisfies Partial<Record<OverrideField, string>>;

type OwnColumns = typeof OWN_COLUMNS;
type OwnField = keyof OwnColumns;

/** As Postgres returns it: the CHECK constraints and our own inserts vouch for these types. */
export type OverrideRow = { [Field in OwnField as OwnColumns[Field]]: VolumeOverrides[Field] } & {
  overrides: Partial<VolumeOverrides>;
};

const column = columnsOf<Volume>();

export const OVERRIDE_COLUMNS: readonly Column<Volume>[] = [
  ...Object.entries(OWN_COLUMNS).map(([field, name]) =>
    // The keys of the table above.
    column('spec', name, (spec) => spec[field as OwnField]),
  ),
  column('spec', 'overrides', (spec) =>
    asJson(
      Object.fromEntries(
        VOLUME_OVERRIDES.filter(({ field }) => !hasColumn(field)).map(({ field }) => [field, spec[field]]),
      ),
    ),
  ),
];

/** Bandwidth settings of rebuilds in a volume's row. */
export type BandwidthRow = Pick<OverrideRow, 'overrides'> & { data_engine: VolumeSpec['dataEngine'] };

export function readBandwidthSpec({ data_engine, overrides }: BandwidthRow): BandwidthSpec {
  const { replicaRebuildingBandwidthLimit = 0 } = overrides;
  return { dataEngine: data_engine, replicaRebuildingBandwidthLimit };
}

const FOLLOWING = overridesFrom(followingValue);

/** By literals and not by a loop over the fields: a page of volumes comes here fifty times. */
export function readOverrides(row: OverrideRow): VolumeOverrides {
  const own: Pick<VolumeOverrides, OwnField> = {
    replicaSoftAntiAffinity: row.replica_soft_anti_affinity,
    replicaZoneSoftAntiAffinity: row.replica_zone_soft_anti_affinity,
    replicaDiskSoftAntiAffinity: row.replica_disk_soft_anti_affinity,
    replicaAutoBalance: row.replica_auto_balance,
    replicaDiskChoice: row.replica_disk_choice,
    snapshotDataIntegrity: row.snapshot_data_integrity,
    snapshotMaxCount: row.snapshot_max_count,
    offlineRebuilding: row.offline_rebuilding,
  };
  return { ...FOLLOWING, ...row.overrides, ...own };
}

/** Says in SQL which overrides a volume answers for itself: their fields, as an array of texts. */
export function ownAnswersOf(alias: string): string {
  const columns = VOLUME_OVERRIDES.flatMap((override) => {
    const { field } = override;
    if (!hasColumn(field)) return [];
    return [
      `CASE WHEN ${alias}.${OWN_COLUMNS[field]} <> ${literalOf(followingValue(override))} THEN '${field}' END`,
    ];
  });
  const others = `ARRAY(SELECT o.key FROM jsonb_each(${alias}.overrides) o WHERE o.value NOT IN ('0', '"ignored"'))`;
  return `(array_remove(ARRAY[${columns.join(', ')}]::text[], NULL) || ${others})`;
}

function literalOf(value: string | number): string {
  return typeof value === 'number' ? String(value) : `'${value}'`;
}

function hasColumn(field: OverrideField): field is OwnField {
  return Object.hasOwn(OWN_COLUMNS, field);
}
