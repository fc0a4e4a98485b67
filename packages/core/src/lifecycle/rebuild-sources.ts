/**
 * Sources of a rebuild: the full copies that it reads from at once. Each counts on its node, so that the limit of rebuilds from one
 * node holds whichever copies an engine reads.
 */
import { compareIds, type NodeId, type ReplicaId } from '../model/ids.js';
import type { Rebuild } from '../model/rebuild.js';
import { isHealthy, type Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { holderOf } from '../model/volume-lifecycle.js';
import { effectiveValue } from '../policy/volume-settings.js';
import type { Step } from './step.js';

/**
 * Full copies in the order in which to read from them: one that stays before one pending removal (which may be the only one), then
 * the one on the engine's own node, because its data crosses the network once.
 */
export function sourcesOf({ volume, replicas }: Pick<VolumeView, 'volume' | 'replicas'>): Replica[] {
  const rank = ({ intent, nodeId }: Replica) =>
    (intent === 'remove' ? 2 : 0) + (nodeId === holderOf(volume) ? 0 : 1);
  return replicas
    .filter((replica) => replica.mode === 'RW' && isHealthy(replica))
    .sort((a, b) => rank(a) - rank(b) || compareIds(a.id, b.id));
}

/** Those that a rebuild which is queued now will read at once. */
export function chosenSources(view: Pick<VolumeView, 'volume' | 'replicas' | 'fleet'>): Replica[] {
  const { volume, fleet } = view;
  return sourcesOf(view).slice(0, effectiveValue(volume.spec, fleet.settings, 'rebuildConcurrentSyncLimit'));
}

/** The nodes to count them on, each once. */
export function sourceNodes(sources: readonly Pick<Replica, 'nodeId'>[]): NodeId[] {
  const nodeIds = sources.flatMap(({ nodeId }) => (nodeId === undefined ? [] : [nodeId]));
  return [...new Set(nodeIds)].sort(compareIds);
}

/** Records other sources: while it waits, those that it would read now; while it runs, those that its engine reads. */
export function planSources(view: VolumeView, rebuild: Rebuild): Step | undefined {
  const ids = rebuild.state === 'queued' ? chosenSources(view).map(({ id }) => id) : readNow(view, rebuild);
  if (ids === undefined || ids.length === 0 || isSame(ids, rebuild.sourceReplicaIds)) return undefined;
  const sources = view.replicas.filter(({ id }) => ids.includes(id));
  const patch = { sourceReplicaIds: ids, sourceNodeIds: sourceNodes(sources) };
  const change = { kind: 'rebuild.patch', rebuildId: rebuild.id, ifState: rebuild.state, patch } as const;
  return { kind: 'commit', why: 'the rebuild reads from other copies', changes: [change] };
}

function readNow({ engine }: VolumeView, { id }: Rebuild): readonly ReplicaId[] | undefined {
  return engine?.report.rebuilds.find(({ rebuildId }) => rebuildId === id)?.sourceReplicaIds;
}

function isSame(a: readonly ReplicaId[], b: readonly ReplicaId[]): boolean {
  return a.length === b.length && a.every((id) => b.includes(id));
}
