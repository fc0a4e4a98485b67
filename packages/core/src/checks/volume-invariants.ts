/**
 * Invariants of every volume, which hold at every moment whatever failed: the simulator checks them after every step. Each finding is
 * a sentence that names the violation.
 */

import type { NodeId } from '../model/ids.js';
import { isActiveRebuild, isPreempted, type Rebuild } from '../model/rebuild.js';
import { isHealthy } from '../model/replica.js';
import type { AdmissionView, VolumeView } from '../model/views.js';
import { isEvicting, nodeById } from '../model/volume-facts.js';
import { provisionableBytes } from '../policy/disk-space.js';
import { hasOneZoneOnly } from './placement-invariants.js';

export function checkVolume(view: VolumeView): string[] {
  const { volume, replicas, rebuilds } = view;
  const findings: string[] = [];
  const { state } = volume.lifecycle;
  const name = `volume ${volume.name}`;
  const writeOnly = replicas.filter(({ mode }) => mode === 'WO').length;
  if (writeOnly > 1) findings.push(`${name} has ${writeOnly} write-only replicas`);
  const active = rebuilds.filter(isActiveRebuild).length;
  if (active > 1) findings.push(`${name} has ${active} active rebuilds`);
  for (const replica of replicas) {
    if (replica.mode === 'RW' && replica.failedAt !== undefined) {
      findings.push(`${name}: failed replica ${replica.id} counts as RW`);
    }
    // An engine may run before its start has been recorded, so `attaching` says nothing about modes.
    const hasNoEngine = state === 'creating' || state === 'detached';
    if (hasNoEngine && (replica.mode === 'RW' || replica.mode === 'WO')) {
      findings.push(`${name} is ${state} and replica ${replica.id} is ${replica.mode}`);
    }
  }
  return [...findings, ...checkDomains(view), ...checkRelocations(view)];
}

/** One relocation at a time, and none of auto-balance before the volume has cooled down. The cool-down must not have been raised since. */
function checkRelocations({ volume, replicas, fleet }: VolumeView): string[] {
  const moving = replicas.filter(({ relocation, intent }) => relocation !== undefined && intent !== 'remove');
  const several = moving.length > 1 ? [`volume ${volume.name} has ${moving.length} relocations`] : [];
  const [previous, last] = volume.balance?.moves.slice(-2) ?? [];
  const isBalancing = moving.some(({ relocation }) => relocation?.reason === 'balance');
  if (!isBalancing || previous === undefined || last === undefined) return several;
  const restedMs = last.at.getTime() - previous.at.getTime();
  const wantedMs = fleet.settings['replica-auto-balance-cool-down'] * 1000;
  return restedMs < wantedMs
    ? [...several, `volume ${volume.name} was balanced again after ${restedMs} ms, not ${wantedMs}`]
    : several;
}

/** No two full copies in one failure domain that the volume says must not be shared. */
function checkDomains({ volume, replicas, fleet }: VolumeView): string[] {
  const { spec } = volume;
  const isHard = (override: string, soft: boolean) =>
    override === 'ignored' ? !soft : override === 'disabled';
  const { settings } = fleet;
  // The replacement of a copy that is to leave may share its place with it.
  const replaced = new Set(replicas.map(({ relocation }) => relocation?.replacesId));
  const copies = replicas.filter(
    (replica) =>
      isHealthy(replica) &&
      replica.intent === 'keep' &&
      !isEvicting(replica, fleet, replicas) &&
      !replaced.has(replica.id),
  );
  const domains: [string, boolean, (string | undefined)[]][] = [
    [
      'node',
      isHard(spec.replicaSoftAntiAffinity, settings['replica-soft-anti-affinity']),
      copies.map(({ nodeId }) => nodeId),
    ],
    [
      'zone',
      isHard(spec.replicaZoneSoftAntiAffinity, settings['replica-zone-soft-anti-affinity']) &&
        !hasOneZoneOnly(spec),
      copies.map(({ nodeId }) => nodeById(fleet, nodeId)?.zone),
    ],
    [
      'disk',
      isHard(spec.replicaDiskSoftAntiAffinity, settings['replica-disk-soft-anti-affinity']),
      copies.map(({ diskId }) => diskId),
    ],
  ];
  return domains.flatMap(([domain, hard, used]) =>
    hard && new Set(used).size < used.length ? [`volume ${volume.name} has two copies in one ${domain}`] : [],
  );
}

/** Nothing is booked past the limit of its disk. `settings` must not have been tightened since the bookings. */
export function checkBookings({ disks, settings }: VolumeView['fleet']): string[] {
  return disks
    .filter((disk) => disk.storageScheduledBytes > Math.max(0, provisionableBytes(disk, settings)))
    .map((disk) => `disk ${disk.name} is booked past its limit: ${disk.storageScheduledBytes} bytes`);
}

/**
 * Never more running rebuilds than the limits: by the database, or by the engines when `running` are theirs. A preempted one copies
 * nothing.
 *
 * The limits must not have been lowered since the rebuilds began.
 */
export function checkRebuildLimits(view: Pick<AdmissionView, 'running' | 'settings'>): string[] {
  const { settings } = view;
  const running = view.running.filter((rebuild) => !isPreempted(rebuild));
  return [
    ...overLimit(
      running,
      ({ targetNodeId }) => [targetNodeId],
      settings['concurrent-replica-rebuild-per-node-limit'],
      'receives',
    ),
    ...overLimit(
      running,
      ({ sourceNodeIds }) => sourceNodeIds,
      settings['concurrent-rebuild-source-per-node-limit'],
      'sends',
    ),
  ];
}

function overLimit(
  running: readonly Rebuild[],
  nodesOf: (rebuild: Rebuild) => readonly NodeId[],
  limit: number,
  verb: string,
): string[] {
  const counts = new Map<NodeId, number>();
  for (const nodeId of running.flatMap(nodesOf)) counts.set(nodeId, (counts.get(nodeId) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > limit)
    .map(([nodeId, count]) => `node ${nodeId} ${verb} ${count} rebuilds, the limit is ${limit}`);
}
