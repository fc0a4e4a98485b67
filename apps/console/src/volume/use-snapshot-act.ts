import { api } from '../api/client';
import { keys } from '../api/queries';
import type { Snapshot, Volume } from '../api/types';
import { useCluster } from '../api/use-cluster';
import { useAction } from '../shared/use-action';

/** A request, and the note shown once it is accepted. */
type Act = { readonly done: string; readonly run: () => Promise<unknown> };

/**
 * Actions on a volume's snapshots.
 *
 * @param refusal place of a refusal: in a note, or in the open dialog
 */
export function useSnapshotAct(
  { id, name }: Pick<Volume, 'id' | 'name'>,
  refusal: 'noted' | 'beside',
  onDone: () => void,
) {
  const { id: clusterId } = useCluster();
  const { mutate, isPending, error, reset } = useAction({
    run: ({ run }: Act) => run(),
    done: (_, { done }) => done,
    refusal,
    stale: [keys.volume(clusterId, id)],
    onDone,
  });
  const act = (done: string, run: () => Promise<unknown>) => mutate({ done, run });
  return {
    isPending,
    /** Why the last one was refused; null for none. */
    problem: error,
    /** Forgets the refusal, such as when its dialog is closed. */
    reset,
    purge: () => act(`Unneeded layers of ${name} are being merged.`, () => api.purge(clusterId, id)),
    /** @param snapshot its name; empty for one that the API gives */
    take: (snapshot: string) =>
      act(snapshot === '' ? 'A snapshot is being taken.' : `Snapshot ${snapshot} is being taken.`, () =>
        api.createSnapshot(clusterId, id, snapshot),
      ),
    hash: (snapshot: Snapshot) =>
      act(`${snapshot.name} is being checked on every copy.`, () =>
        api.hashSnapshot(clusterId, id, snapshot.id),
      ),
  };
}
