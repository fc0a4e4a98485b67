/**
 * Watches what the cluster's reconciler admits: background tasks and purges of rebuilds begin within their limit and only
 * where they are switched on. Looked at after each of its runs, by the settings in force then.
 */
import { checkHashing, checkPurgeBeforeRebuild } from '@holdfast/core/checks/switches.js';
import { checkTaskLimits } from '@holdfast/core/checks/task-limits.js';
import type { RebuildId, VolumeId } from '@holdfast/core/model/ids.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import type { ClusterSettings } from '@holdfast/core/model/setting.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { heavyTaskOf } from '@holdfast/core/model/volume-task.js';
import { taskVolume } from './store/admission-tasks.js';
import { BUSY, type Tables } from './store/tables.js';

export class TaskWatch {
  private running = new Set<VolumeId>();
  private hashed = new Set<VolumeId>();
  private purging = new Set<RebuildId>();

  constructor(private readonly tables: Tables) {}

  /** @returns findings */
  look(settings: ClusterSettings): string[] {
    const busy = this.tables.volumes.by('busy', BUSY);
    const purging = this.tables.rebuilds.by('state', 'running').filter(isPurging);
    const ids = new Set([
      ...busy.filter(isAdmitted).map(({ id }) => id),
      ...purging.map((one) => one.volumeId),
    ]);
    const begun = new Set([...ids].filter((id) => !this.running.has(id)));
    const hashed = busy.filter(({ hashing }) => hashing !== undefined);
    const findings = [
      ...checkTaskLimits(
        [...ids].map((id) => taskVolume(this.tables, id)),
        begun,
        settings['snapshot-heavy-task-concurrent-limit'],
      ),
      ...hashed
        .filter(({ id }) => !this.hashed.has(id))
        .flatMap((volume) => checkHashing({ volume, settings })),
      ...purging.filter(({ id }) => !this.purging.has(id)).flatMap(() => checkPurgeBeforeRebuild(settings)),
    ];
    this.running = ids;
    this.hashed = new Set(hashed.map(({ id }) => id));
    this.purging = new Set(purging.map(({ id }) => id));
    return findings;
  }
}

function isAdmitted(volume: Volume): boolean {
  return volume.hashing !== undefined || heavyTaskOf(volume)?.admittedAt !== undefined;
}

function isPurging({ purgesFirst, phase }: Rebuild): boolean {
  return purgesFirst && (phase === 'waiting' || phase === 'preparing');
}
