'use client';
import { api } from '../api/client';
import type { Volume } from '../api/types';
import { useCluster } from '../api/use-cluster';
import { useAction } from '../shared/use-action';

/** An action, and the note shown once the API has accepted it. */
type Act = { readonly done: string; readonly run: () => Promise<unknown> };

/**
 * Actions on a volume that need no input.
 *
 * @param refusal place of a refusal: in a note, or in the open dialog
 */
export function useVolumeAct(
  { id, name }: Pick<Volume, 'id' | 'name'>,
  refusal: 'noted' | 'beside',
  onDone: () => void,
) {
  const cluster = useCluster();
  const { mutate, isPending, error, reset } = useAction({
    run: ({ run }: Act) => run(),
    done: (_, { done }) => done,
    refusal,
    stale: [['volumes']],
    onDone,
  });
  const act = (done: string, run: () => Promise<unknown>) => mutate({ done: `${name} ${done}.`, run });
  return {
    isPending,
    /** Why the last one was refused; null for none. */
    problem: error,
    /** Forgets the refusal, such as when its dialog is closed. */
    reset,
    attach: (nodeId: string | undefined) =>
      act('is being attached', () => api.attach(cluster.id, id, nodeId)),
    verify: () => act('has its copies compared', () => api.verify(cluster.id, id)),
    salvage: (replicaIds: string[]) =>
      act('goes on with the chosen copies', () => api.salvage(cluster.id, id, replicaIds)),
  };
}
