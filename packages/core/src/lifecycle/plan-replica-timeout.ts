/**
 * Replica timeout of a running engine: one that was started under another setting gets the present one. Engines of older agents
 * report none, and adopt it with their next start.
 */
import type { VolumeView } from '../model/views.js';
import { settingsOf } from '../settings/engine-maps.js';
import type { Step } from './step.js';

export function planReplicaTimeout({ volume, engine, fleet }: VolumeView): Step | undefined {
  const replicaTimeoutMs =
    settingsOf(fleet.settings, volume.spec.dataEngine)['engine-replica-timeout'] * 1000;
  const report = engine?.report;
  if (volume.lifecycle.state !== 'attached' || report?.state !== 'running') return undefined;
  if (report.epoch !== volume.epoch || report.replicaTimeoutMs === undefined) return undefined;
  return report.replicaTimeoutMs === replicaTimeoutMs
    ? undefined
    : { kind: 'set-replica-timeout', replicaTimeoutMs };
}
