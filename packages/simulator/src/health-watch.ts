/**
 * Oracle of health: the displayed health of a volume is never better for long than that seen by an observer of all disks. The product
 * learns of a fault after the time that the settings give it.
 */
import type { VolumeId } from '@holdfast/core/model/ids.js';
import { isHealthy, type Replica } from '@holdfast/core/model/replica.js';
import type { Robustness, Volume } from '@holdfast/core/model/volume.js';
import type { World } from './world.js';

/**
 * In addition to the time after which a silent node counts as not ready: for an engine that waits for a copy, a worker that is down,
 * and lost calls.
 */
const SLACK_MS = 90_000;

/** A copy that is not needed is removed once no rebuild and no purge blocks that. */
const SURPLUS_MS = 600_000;

/** The smaller, the better. A volume in an unknown state is not displayed as healthy. */
const RANKS: Readonly<Record<Robustness, number>> = { healthy: 0, degraded: 1, unknown: 2, faulted: 2 };

export class HealthWatch {
  /** Since when more was shown than there is. */
  private readonly since = new Map<VolumeId, number>();
  /** Since when it has had more full copies than it wants. */
  private readonly surplus = new Map<VolumeId, number>();

  constructor(private readonly world: World) {}

  /** @returns what was wrong for too long, as sentences */
  look(changed: Iterable<VolumeId>): string[] {
    const nowMs = this.world.clock.now().getTime();
    const volumes = new Set([...changed, ...this.since.keys(), ...this.surplus.keys()]);
    return [...volumes].flatMap((volumeId) => [
      ...this.lookAt(volumeId, nowMs),
      ...this.surplusOf(volumeId, nowMs),
    ]);
  }

  private lookAt(volumeId: VolumeId, nowMs: number): string[] {
    const { tables } = this.world.store;
    const volume = tables.volumes.get(volumeId);
    const found =
      volume === undefined ? undefined : this.tooGood(volume, tables.replicas.by('volume', volumeId));
    if (volume === undefined || found === undefined) {
      this.since.delete(volumeId);
      return [];
    }
    const sinceMs = this.since.get(volumeId) ?? nowMs;
    this.since.set(volumeId, sinceMs);
    const limitMs =
      SLACK_MS + 1000 * (tables.clusters.get(this.world.clusterId)?.settings['agent-heartbeat-timeout'] ?? 0);
    return nowMs - sinceMs > limitMs
      ? [`volume ${volume.name} is shown as ${volume.robustness}: ${found}`]
      : [];
  }

  private surplusOf(volumeId: VolumeId, nowMs: number): string[] {
    const { tables } = this.world.store;
    const volume = tables.volumes.get(volumeId);
    const full = tables.replicas
      .by('volume', volumeId)
      .filter(({ mode, intent }) => mode === 'RW' && intent !== 'remove');
    const extra = full.length - (volume?.spec.numberOfReplicas ?? full.length);
    if (volume?.lifecycle.state !== 'attached' || extra < 1) {
      this.surplus.delete(volumeId);
      return [];
    }
    const sinceMs = this.surplus.get(volumeId) ?? nowMs;
    this.surplus.set(volumeId, sinceMs);
    if (nowMs - sinceMs <= SURPLUS_MS) return [];
    return [
      `volume ${volume.name} keeps ${full.length} copies for long and wants ${volume.spec.numberOfReplicas}`,
    ];
  }

  private tooGood(volume: Volume, replicas: readonly Replica[]): string | undefined {
    const { state } = volume.lifecycle;
    if (state === 'creating' || state === 'deleting') return undefined;
    const full = replicas.filter((replica) => isHealthy(replica) && this.isThere(replica));
    const wanted = volume.spec.numberOfReplicas;
    const truth = full.length >= wanted ? 'healthy' : full.length > 0 ? 'degraded' : 'faulted';
    if (RANKS[volume.robustness] >= RANKS[truth]) return undefined;
    return `${full.length} of ${wanted} copies are there and hold what was acknowledged`;
  }

  /** Is the copy where a client's engine could read it, with all that the volume acknowledged? */
  private isThere(replica: Replica): boolean {
    const holder = this.world.fleet.holderOf(replica);
    const copy = holder?.copy(replica.id);
    if (holder === undefined || copy === undefined || !holder.isAlive || !holder.isConnected) return false;
    if (holder.nodeId !== replica.nodeId) return false;
    const acknowledged: ReadonlySet<number> = this.world.acknowledged.get(replica.volumeId) ?? new Set();
    return [...acknowledged].every((number) => copy.writes.has(number));
  }
}
