/** History of a run: the state at the start, and every replica, rebuild and event since. */
import type { EventFacts, Facts, RebuildFacts, ReplicaFacts, VolumeFacts } from './facts.js';

export type VolumeHistory = {
  /** The replicas that it had at the start, or when it was first seen. */
  readonly first: readonly ReplicaFacts[];
  readonly replicaIds: ReadonlySet<string>;
  readonly rebuilds: ReadonlyMap<string, RebuildFacts>;
  /** Replicas that the API had named as victims before they were gone. */
  readonly named: ReadonlySet<string>;
};

type Seen = {
  first: readonly ReplicaFacts[];
  replicaIds: Set<string>;
  rebuilds: Map<string, RebuildFacts>;
  named: Set<string>;
};

export class History {
  private readonly volumes = new Map<string, Seen>();
  private readonly eventsById = new Map<string, EventFacts>();
  private readonly rebuildsBefore: ReadonlySet<string>;
  private readonly eventsBefore: ReadonlySet<string>;

  constructor(start: Facts) {
    this.rebuildsBefore = new Set(start.volumes.flatMap(({ rebuilds }) => rebuilds.map(({ id }) => id)));
    this.eventsBefore = new Set(start.events.map(({ id }) => id));
    this.add(start);
  }

  /** @returns the events that are new */
  add(facts: Facts): EventFacts[] {
    for (const volume of facts.volumes) this.addVolume(volume);
    const news = facts.events.filter(({ id }) => !this.eventsBefore.has(id) && !this.eventsById.has(id));
    for (const event of news) this.eventsById.set(event.id, event);
    return news;
  }

  private addVolume({ name, replicas, rebuilds, namedVictim }: VolumeFacts): void {
    const known = this.volumes.get(name);
    const seen = known ?? { first: replicas, replicaIds: new Set(), rebuilds: new Map(), named: new Set() };
    this.volumes.set(name, seen);
    for (const { id } of replicas) seen.replicaIds.add(id);
    for (const rebuild of rebuilds) {
      if (!this.rebuildsBefore.has(rebuild.id)) seen.rebuilds.set(rebuild.id, rebuild);
    }
    if (namedVictim !== null) seen.named.add(namedVictim);
  }

  of(volume: string): VolumeHistory | undefined {
    return this.volumes.get(volume);
  }

  /** Since the start, of every volume. */
  rebuilds(): RebuildFacts[] {
    return [...this.volumes.values()].flatMap(({ rebuilds }) => [...rebuilds.values()]);
  }

  events(): EventFacts[] {
    return [...this.eventsById.values()];
  }
}
