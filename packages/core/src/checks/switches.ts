/**
 * Invariants of switches: work that a setting turns off does not begin. Judged when it begins, by the values in force then. Each
 * finding is a sentence.
 */

import type { OrphanRemoval } from '../model/orphan.js';
import type { RelocationReason } from '../model/relocation.js';
import type { Replica } from '../model/replica.js';
import type { ClusterSettings } from '../model/setting.js';
import type { Volume } from '../model/volume.js';

type Judged = { readonly volume: Pick<Volume, 'name' | 'spec'>; readonly settings: ClusterSettings };

/** A copy is moved only for a reason that is not switched off. */
export function checkMove(reason: RelocationReason | undefined, { volume, settings }: Judged): string[] {
  const { spec, name } = volume;
  const balance =
    spec.replicaAutoBalance === 'ignored' ? settings['replica-auto-balance'] : spec.replicaAutoBalance;
  const isOff =
    (reason === 'balance' && balance === 'disabled') ||
    (reason === 'selector' && !settings['replica-relocate-on-selector-change']) ||
    (reason === 'locality' && spec.dataLocality === 'disabled');
  return isOff ? [`a copy of volume ${name} is moved for ${reason}, which is switched off`] : [];
}

/** A volume is attached elsewhere automatically only if its policy says so. */
export function checkFailover({ volume, settings }: Judged): string[] {
  const own = volume.spec.failoverDelay;
  const delay = own === 0 ? settings['volume-failover-delay'] : own;
  return delay <= 0 ? [`volume ${volume.name} failed over although its policy says never`] : [];
}

/** A user's volume is detached from a cordoned node only while that is switched on. */
export function checkCordonDetachment({ volume, settings }: Judged): string[] {
  return settings['detach-manually-attached-volumes-when-cordoned']
    ? []
    : [`volume ${volume.name} was detached from a cordoned node, which is switched off`];
}

/**
 * A removed orphan is no replica's copy, and is removed by the setting only while that is on.
 *
 * @param replica the replica with its id, if there is one
 */
export function checkOrphanRemoval(
  {
    replicaId,
    removal,
  }: { readonly replicaId: string; readonly removal: Pick<OrphanRemoval, 'by'> | undefined },
  replica: Pick<Replica, 'id'> | undefined,
  settings: ClusterSettings,
): string[] {
  const isOn = settings['orphan-resource-auto-deletion'].split(';').includes('replica-data');
  return [
    ...(replica === undefined ? [] : [`copy ${replicaId} was removed as an orphan and is a replica's`]),
    ...(removal === undefined
      ? [`copy ${replicaId} was removed as an orphan, which was never asked for`]
      : []),
    ...(removal?.by === 'setting' && !isOn ? [`copy ${replicaId} was removed by a setting that is off`] : []),
  ];
}

/** A rebuild purges first only while clean-up is on and purges are not off. */
export function checkPurgeBeforeRebuild(settings: ClusterSettings): string[] {
  const isWanted = settings['auto-cleanup-system-generated-snapshot'] && !settings['disable-snapshot-purge'];
  return isWanted ? [] : ['a rebuild purges first, which is switched off'];
}

/** The worker hashes only volumes whose integrity is not disabled. */
export function checkHashing({ volume, settings }: Judged): string[] {
  const { snapshotDataIntegrity: own, dataEngine } = volume.spec;
  const byCluster = settings.ofEngine?.[dataEngine]?.['snapshot-data-integrity'];
  const integrity = own === 'ignored' ? (byCluster ?? settings['snapshot-data-integrity']) : own;
  return integrity === 'disabled' ? [`volume ${volume.name} is hashed, which is switched off`] : [];
}
