import type { Context } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import type { Snapshot } from '../types.js';

export async function pathOf(context: Context, volume: string): Promise<string> {
  const { id } = await context.volume(volume);
  return `${await context.clusterPath()}/volumes/${id}/snapshots`;
}

/** A live snapshot of that name before a deleted one; an id names exactly one. */
export async function find(
  context: Context,
  volume: string,
  nameOrId: string,
): Promise<{ found: Snapshot; all: Snapshot[]; path: string }> {
  const path = await pathOf(context, volume);
  const all = await context.api.list<Snapshot>(path);
  const named = all.filter(({ id, name }) => id === nameOrId || name === nameOrId);
  const found = named.find(({ state }) => state === 'ready' || state === 'creating') ?? named[0];
  if (found === undefined) throw new CliError(EXIT.notFound, `${volume} has no snapshot ${nameOrId}`);
  return { found, all, path };
}
