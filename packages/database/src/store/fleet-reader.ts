/**
 * Fleet cache of one process that plans volumes: the nodes, disks and settings of clusters as last read. A read fetches only rows
 * that have changed since, so its cost is that of the changes and not of the fleet.
 *
 * A view is still of one moment together with everything else that its transaction reads: rows are kept as of a snapshot of Postgres,
 * and the next transaction that reads them sees at least as much. For this, transactions begin one after the other and have read
 * their fleet before the next one begins; their further work runs side by side.
 */
import type { FleetView } from '@holdfast/control/ports/store.js';
import { type ClusterId, compareIds } from '@holdfast/core/model/ids.js';
import type { StorageDisk, StorageNode } from '@holdfast/core/model/node.js';
import type { ClusterSettings } from '@holdfast/core/model/setting.js';
import type { FleetChanges } from '@holdfast/core/scheduling/index/fleet-cache.js';
import { type Scope, type Sql, snapshot } from '../sql/scope.js';
import { type FleetHorizon, readFleetChanges, readWholeFleet } from './fleet-changes.js';
import { loadListening } from './listening.js';

/** Reads the fleet of a cluster in a transaction. */
export type ReadFleet = (clusterId: ClusterId) => Promise<FleetView>;

/** In the order of their ids. Replaced and never changed: views that were given out share them. */
type Kept = {
  readonly horizon: FleetHorizon;
  readonly settings: ClusterSettings;
  readonly nodes: readonly StorageNode[];
  readonly disks: readonly StorageDisk[];
};

export class FleetReader {
  private readonly kept = new Map<ClusterId, Kept>();
  private lastTurn: Promise<void> = Promise.resolve();

  /** Reads one consistent state. The next one begins when `work` has read a fleet, or is over. */
  async snapshot<T>(scope: Scope, work: (sql: Sql, read: ReadFleet) => Promise<T>): Promise<T> {
    const endTurn = await this.takeTurn();
    try {
      return await snapshot(scope, (sql) =>
        work(sql, async (clusterId) => {
          const fleet = await this.read(sql, clusterId);
          endTurn();
          return fleet;
        }),
      );
    } finally {
      endTurn();
    }
  }

  private async takeTurn(): Promise<() => void> {
    const before = this.lastTurn;
    let endTurn: () => void = () => undefined;
    this.lastTurn = new Promise((resolve) => {
      endTurn = resolve;
    });
    await before;
    return endTurn;
  }

  private async read(sql: Sql, clusterId: ClusterId): Promise<FleetView> {
    const fleet = (await this.readChanges(sql, clusterId)) ?? (await readAll(sql, clusterId));
    this.kept.set(clusterId, fleet);
    const { horizon, settings, nodes, disks } = fleet;
    const { settingsVersion } = horizon;
    const listening = await loadListening(sql, clusterId);
    return {
      clusterId,
      settings,
      settingsVersion,
      ...(listening === undefined ? {} : { listening }),
      nodes,
      disks,
    };
  }

  /** `undefined`: only a full response shows the objects that exist. */
  private async readChanges(sql: Sql, clusterId: ClusterId): Promise<Kept | undefined> {
    const kept = this.kept.get(clusterId);
    if (kept === undefined) return undefined;
    const { changes, horizon } = await readFleetChanges(sql, clusterId, kept.horizon);
    return after(kept, changes, horizon);
  }
}

/** `undefined` when something is gone. */
function after(kept: Kept, changes: FleetChanges, horizon: FleetHorizon): Kept | undefined {
  const nodes = merged(kept.nodes, changes.nodes);
  const disks = merged(kept.disks, changes.disks);
  if (nodes.length !== changes.nodeCount || disks.length !== changes.diskCount) return undefined;
  return { horizon, settings: changes.settings ?? kept.settings, nodes, disks };
}

async function readAll(sql: Sql, clusterId: ClusterId): Promise<Kept> {
  const { whole, horizon } = await readWholeFleet(sql, clusterId);
  return {
    horizon,
    settings: whole.settings,
    nodes: merged([], whole.nodes),
    disks: merged([], whole.disks),
  };
}

function merged<Row extends StorageNode | StorageDisk>(
  kept: readonly Row[],
  changed: readonly Row[],
): readonly Row[] {
  if (changed.length === 0) return kept;
  const rows = new Map<string, Row>([...kept, ...changed].map((row) => [row.id, row]));
  const all = [...rows.values()];
  return all.length === kept.length ? all : all.sort((a, b) => compareIds(a.id, b.id));
}
