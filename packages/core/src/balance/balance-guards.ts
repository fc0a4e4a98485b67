/**
 * Bounds of auto-balance: nodes that were not ready recently, a cool-down for each volume, bytes under way in the cluster, and an end
 * if copies oscillate.
 */
import { GIB } from '../model/bytes.js';
import type { ReplicaId } from '../model/ids.js';
import { isNodeReady, type StorageNode } from '../model/node.js';
import type { BalanceHistory, BalanceMove, Place } from '../model/relocation.js';
import type { Replica } from '../model/replica.js';
import type { ClusterSettings } from '../model/setting.js';
import type { FleetView, VolumeView } from '../model/views.js';
import { lastingCopies, nodeById } from '../model/volume-facts.js';

type CopiesView = Pick<VolumeView, 'replicas' | 'fleet'>;

/** As long as moves may be recognised as going to and fro; rarer ones do no harm. */
const HISTORY_MS = 24 * 3_600_000;
/** With longer cool-downs several moves have to fit in. */
const HISTORY_COOL_DOWNS = 10;
/** More than any volume needs to be spread once: 20 copies. */
const MOVES_KEPT_MAX = 40;
/** A copy that returns where balance took one from: once a change of the fleet may be the reason, not again. */
const RETURNS_MAX = 1;

/** Ready, and not back only lately: a node that comes and goes neither gets nor loses copies. */
export function isSettled(node: StorageNode, settings: ClusterSettings, now: Date): boolean {
  return isNodeReady(node) && nodeStableFrom(node, settings).getTime() <= now.getTime();
}

export function nodeStableFrom({ returnedAt }: StorageNode, settings: ClusterSettings): Date {
  const settlingMs = settings['replica-auto-balance-node-settling-time'] * 1000;
  return new Date(returnedAt === undefined ? 0 : returnedAt.getTime() + settlingMs);
}

/** Since when a copy has been full on a node that has been ready; later than another's: it is the less stable one. */
export function stableSince({ healthyAt, nodeId }: Replica, fleet: FleetView): Date {
  const returnedAt = nodeById(fleet, nodeId)?.returnedAt;
  return new Date(Math.max(healthyAt?.getTime() ?? 0, returnedAt?.getTime() ?? 0));
}

/**
 * May balance take the copy? Not while another one has only just become full, or is on a node that has only just come back, and
 * this one is older: until that has settled, it is what the volume can rely on.
 *
 * @param exceptId its own replacement, which is always a new copy
 */
export function mayBeTaken(view: CopiesView, replica: Replica, now: Date, exceptId?: ReplicaId): boolean {
  const since = stableSince(replica, view.fleet);
  return lastingCopies(view).every((other) => {
    if (other.id === replica.id || other.id === exceptId) return true;
    return stableSince(other, view.fleet) <= since || copySettledAt(other, view.fleet) <= now;
  });
}

/** When a copy counts as one to rely on. */
export function copySettledAt(replica: Replica, fleet: FleetView): Date {
  const settlingMs = fleet.settings['replica-auto-balance-node-settling-time'] * 1000;
  return new Date(stableSince(replica, fleet).getTime() + settlingMs);
}

/** When the volume may be balanced again; `undefined`: it never was. */
export function cooledDownAt({ volume, fleet }: VolumeView): Date | undefined {
  const last = volume.balance?.moves.at(-1);
  const coolDownMs = fleet.settings['replica-auto-balance-cool-down'] * 1000;
  return last === undefined ? undefined : new Date(last.at.getTime() + coolDownMs);
}

/** Is there room for the volume under the bound of the cluster? Alone, any volume may move. */
export function fitsInFlight({ volume, fleet, relocations }: VolumeView): boolean {
  const balancing = relocations.underWay.filter(({ relocation }) => relocation.reason === 'balance');
  const bytes = balancing.reduce((sum, { relocation }) => sum + relocation.bytes, 0);
  const limit = fleet.settings['replica-auto-balance-bytes-in-flight'] * GIB;
  return balancing.length === 0 || bytes + volume.writtenBytes <= limit;
}

/** Would the move bring copies back to where balance took them from, more often than a changed fleet explains? */
export function isGoingToAndFro(view: VolumeView, from: Place, to: Place, now: Date): boolean {
  const coolDownMs = view.fleet.settings['replica-auto-balance-cool-down'] * 1000;
  const sinceMs = now.getTime() - Math.max(HISTORY_MS, HISTORY_COOL_DOWNS * coolDownMs);
  const moves = (view.volume.balance?.moves ?? []).filter(({ at }) => at.getTime() >= sinceMs);
  const planned: BalanceMove = { from, to, at: now };
  if (!returnsOne(moves, planned)) return false;
  const returns = moves.filter((move, index) => returnsOne(moves.slice(0, index), move)).length;
  return returns >= RETURNS_MAX;
}

/** Within a node it is the disk that counts, else the node. */
function returnsOne(earlier: readonly BalanceMove[], { from, to }: BalanceMove): boolean {
  const isWithinNode = from.nodeId === to.nodeId;
  return earlier.some((move) => {
    if (isWithinNode !== (move.from.nodeId === move.to.nodeId)) return false;
    return isWithinNode ? move.from.diskId === to.diskId : move.from.nodeId === to.nodeId;
  });
}

export function withMove(history: BalanceHistory | undefined, move: BalanceMove): BalanceHistory {
  const moves = [...(history?.moves ?? []), move].slice(-MOVES_KEPT_MAX);
  return { moves, stoppedAt: history?.stoppedAt };
}

/** After the last move has ended, whatever became of it: the cool-down counts from then. */
export function withMoveEnded(history: BalanceHistory | undefined, at: Date): BalanceHistory | undefined {
  const last = history?.moves.at(-1);
  if (history === undefined || last === undefined) return history;
  return { ...history, moves: [...history.moves.slice(0, -1), { ...last, at }] };
}
