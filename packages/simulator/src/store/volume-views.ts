/**
 * Views of volumes over the tables in memory. A view is made anew only when a row of it has changed; until then the same object is
 * returned, as is each list in it, so that results may be kept with them.
 */
import type { VolumeDue, VolumeView } from '@holdfast/control/ports/store.js';
import { Bug } from '@holdfast/core/model/faults.js';
import { type ClusterId, compareIds, type VolumeId } from '@holdfast/core/model/ids.js';
import { isActiveRebuild, type Rebuild } from '@holdfast/core/model/rebuild.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { Snapshot } from '@holdfast/core/model/snapshot.js';
import type { FleetView } from '@holdfast/core/model/views.js';
import { speaksFor, type Volume } from '@holdfast/core/model/volume.js';
import { holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import { fillOf } from '@holdfast/core/model/volume-task.js';
import { MOVING, type ObservationRow, observationKey, type Tables } from './tables.js';

export type LoadedVolume = VolumeView & { readonly due: VolumeDue };

/** Ended rebuilds in a volume's view: enough to count failures in a row. */
const ENDED_REBUILDS_MAX = 10;

const NOT_DUE: VolumeDue = { at: undefined, marks: 0 };

/** The rows that a view is made of. Rows and lists are never changed in place, so equal ones make an equal view. */
type Sources = {
  readonly volume: Volume;
  readonly replicas: readonly Replica[];
  readonly snapshots: readonly Snapshot[];
  readonly rebuilds: readonly Rebuild[];
  readonly clones: readonly Volume[];
  /** Changes with every node, and so with the state of the engine's node. */
  readonly fleet: FleetView;
  readonly observation: ObservationRow | undefined;
  readonly relocations: VolumeView['relocations'];
  readonly due: VolumeDue;
};

export class VolumeViews {
  private readonly known = new Map<VolumeId, { readonly sources: Sources; readonly view: LoadedVolume }>();
  private moves: { readonly key: string; readonly relocations: VolumeView['relocations'] } | undefined;

  constructor(private readonly tables: Tables) {}

  of(volume: Volume, fleet: FleetView): LoadedVolume {
    const sources = this.sourcesOf(volume, fleet);
    const known = this.known.get(volume.id);
    if (known !== undefined && areSame(known.sources, sources)) return known.view;
    const view = this.made(sources, known?.sources, known?.view);
    this.known.set(volume.id, { sources, view });
    return view;
  }

  private sourcesOf(volume: Volume, fleet: FleetView): Sources {
    const { tables } = this;
    const { id } = volume;
    const holderId = holderOf(volume);
    return {
      volume,
      replicas: tables.replicas.by('volume', id),
      snapshots: tables.snapshots.by('volume', id),
      rebuilds: tables.rebuilds.by('volume', id),
      clones: tables.volumes.by('source', id),
      fleet,
      observation: holderId === undefined ? undefined : tables.observations.get(observationKey(id, holderId)),
      relocations: this.relocationsOf(volume.clusterId),
      due: tables.dues.get(id) ?? NOT_DUE,
    };
  }

  private made(now: Sources, before: Sources | undefined, view: LoadedVolume | undefined): LoadedVolume {
    const { volume, fleet, relocations, due } = now;
    return {
      volume,
      replicas:
        view !== undefined && before?.replicas === now.replicas
          ? view.replicas
          : now.replicas.toSorted((a, b) => compareIds(a.id, b.id)),
      snapshots:
        view !== undefined && before?.snapshots === now.snapshots
          ? view.snapshots
          : now.snapshots.toSorted(
              (a, b) => a.createdAt.getTime() - b.createdAt.getTime() || compareIds(a.id, b.id),
            ),
      rebuilds:
        view !== undefined && before?.rebuilds === now.rebuilds
          ? view.rebuilds
          : recentRebuilds(now.rebuilds),
      clones: now.clones.flatMap((other) => {
        const fill = fillOf(other);
        return fill === undefined ? [] : [{ volumeId: other.id, snapshotId: fill.snapshotId }];
      }),
      fleet,
      engine: engineOf(this.tables, volume),
      relocations,
      due,
    };
  }

  private relocationsOf(clusterId: ClusterId): VolumeView['relocations'] {
    const { replicas, clusters, volumes } = this.tables;
    const version = clusters.get(clusterId)?.balanceVersion;
    if (version === undefined) throw new Bug('the cluster of a volume is not there');
    const key = `${clusterId} ${version} ${replicas.changesOf('moving')}`;
    if (this.moves?.key === key) return this.moves.relocations;
    const underWay = replicas
      .by('moving', MOVING)
      .filter(({ volumeId }) => volumes.get(volumeId)?.clusterId === clusterId)
      .sort((a, b) => compareIds(a.id, b.id))
      .flatMap(({ volumeId, relocation }) => (relocation === undefined ? [] : [{ volumeId, relocation }]));
    const relocations = { version, underWay };
    this.moves = { key, relocations };
    return relocations;
  }
}

function areSame(a: Sources, b: Sources): boolean {
  return (
    a.volume === b.volume &&
    a.fleet === b.fleet &&
    a.due === b.due &&
    a.replicas === b.replicas &&
    a.observation === b.observation &&
    a.rebuilds === b.rebuilds &&
    a.snapshots === b.snapshots &&
    a.relocations === b.relocations &&
    a.clones === b.clones
  );
}

/** Last report of the engine at the volume's epoch, if it came in the present run of its node's agent. */
export function engineOf(tables: Tables, volume: Volume): VolumeView['engine'] {
  const holderId = holderOf(volume);
  if (holderId === undefined) return undefined;
  const row = tables.observations.get(observationKey(volume.id, holderId));
  const node = tables.nodes.get(holderId);
  if (row === undefined || node === undefined || row.bootId !== node.bootId) return undefined;
  if (!speaksFor(row.report, volume)) return undefined;
  // An agent that is heard without news repeats its last report: only its node's row is written then.
  return { nodeId: row.nodeId, bootId: row.bootId, at: node.lastHeartbeatAt ?? row.at, report: row.report };
}

function recentRebuilds(rebuilds: readonly Rebuild[]): Rebuild[] {
  const byAge = rebuilds.toSorted(
    (a, b) => a.queuedAt.getTime() - b.queuedAt.getTime() || compareIds(a.id, b.id),
  );
  const ended = byAge.filter((rebuild) => !isActiveRebuild(rebuild)).slice(-ENDED_REBUILDS_MAX);
  return byAge.filter((rebuild) => isActiveRebuild(rebuild) || ended.includes(rebuild));
}
