/**
 * Invariants of waits: each has a reason, and something ends it. They hold once the reconcilers have run in an unchanged cluster.
 * Each finding is a sentence.
 */
import { isActiveRebuild, type Rebuild } from '../model/rebuild.js';
import { isHealthy } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { isServing, lastingCopies } from '../model/volume-facts.js';

/** Waits that the return of a node ends: its new state marks the volumes that it concerns due. */
const NODE_WAITS: readonly string[] = ['HolderUnreachable', 'NoNodeToAttach'];

/** @param dueAt next reconciliation of the volume; `undefined`: not before something marks it due */
export function checkVolumeWaits(view: VolumeView, dueAt: Date | undefined): string[] {
  if (dueAt !== undefined) return [];
  const { volume, replicas, rebuilds, snapshots } = view;
  const name = `volume ${volume.name}`;
  const findings: string[] = [];
  const isBuilding = rebuilds.some(isActiveRebuild);
  const isShort = lastingCopies(view).length < volume.spec.numberOfReplicas;
  const isSearching = volume.lifecycle.state === 'attached' && isShort && !isBuilding;
  if (isSearching) findings.push(`${name} lacks a copy and has no time at which it looks for a place`);
  const waitsForNode = NODE_WAITS.includes(volume.attention?.code ?? '');
  if (volume.lifecycle.state === 'attaching' && !waitsForNode)
    findings.push(`${name} is being attached and has no time at which it is tried again`);
  const isRefused = snapshots.some(({ state, trouble }) => state !== 'ready' && trouble !== undefined);
  if (isServing(view) && isRefused)
    findings.push(`${name} has a snapshot that was refused and no time at which it is tried again`);
  const keepsFailed = view.fleet.settings['stale-replica-timeout'] > 0;
  const hasFailed = replicas.some((replica) => replica.failedAt !== undefined && !isHealthy(replica));
  if (keepsFailed && hasFailed && volume.lifecycle.state === 'attached' && !isShort)
    findings.push(`${name} keeps a failed replica and has no time at which that is removed`);
  return findings;
}

export function checkRebuildWaits(queued: readonly Rebuild[]): string[] {
  return queued
    .filter(({ waitingFor, waitingReason }) => waitingFor === '' || waitingReason === undefined)
    .map(({ volumeId }) => `the rebuild of volume ${volumeId} waits and does not say for what`);
}
