import { itemsOf, VOLUME } from '../api.js';
import type { Context, VolumeKey } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import type { Snapshot } from '../types.js';

export const SNAPSHOT = `${VOLUME}/snapshots/{snapshotId}` as const;

/** Path parameters of a snapshot in the API. */
export type SnapshotKey = VolumeKey & { snapshotId: string };

/** All snapshots of one volume. */
export function snapshotsOf(context: Context, path: VolumeKey): Promise<Snapshot[]> {
  return itemsOf((query) => context.api.GET(`${VOLUME}/snapshots`, { params: { path, query } }));
}

/** The snapshot with that name or id. A live snapshot comes before a deleted one of the same name. */
export async function find(
  context: Context,
  volume: string,
  nameOrId: string,
): Promise<{ found: Snapshot; all: Snapshot[]; path: SnapshotKey }> {
  const key = await context.volumeKey(volume);
  const all = await snapshotsOf(context, key);
  const named = all.filter(({ id, name }) => id === nameOrId || name === nameOrId);
  const found = named.find(({ state }) => state === 'ready' || state === 'creating') ?? named[0];
  if (found === undefined) throw new CliError(EXIT.notFound, `${volume} has no snapshot ${nameOrId}`);
  return { found, all, path: { ...key, snapshotId: found.id } };
}
