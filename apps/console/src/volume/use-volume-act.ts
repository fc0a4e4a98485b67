'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import { api } from '../api/client';
import { isProblem } from '../api/problem';
import type { Volume } from '../api/types';
import { useCluster } from '../api/use-cluster';

/** An action, and what is told once the API has taken it. */
type Act = { readonly done: string; readonly run: () => Promise<unknown> };

/** Actions on a volume that need nothing but a word to the API; a note tells what has been begun, or why not. */
export function useVolumeAct({ id, name }: Pick<Volume, 'id' | 'name'>, onDone: () => void) {
  const cluster = useCluster();
  const queryClient = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: ({ run }: Act) => run(),
    onSuccess: (_, { done }) => {
      onDone();
      toast.success(done);
    },
    onError: (error) =>
      toast.error(isProblem(error) ? error.detail : 'There was no answer. The action may have been taken.'),
    onSettled: () => void queryClient.invalidateQueries({ queryKey: ['volumes'] }),
  });
  const act = (done: string, run: () => Promise<unknown>) => mutate({ done: `${name} ${done}`, run });
  return {
    isPending,
    attach: (nodeId: string | undefined) =>
      act('is being attached', () => api.attach(cluster.id, id, nodeId)),
    detach: () => act('is being detached', () => api.detach(cluster.id, id, false)),
    forceDetach: () => act('is taken from its node', () => api.detach(cluster.id, id, true)),
    verify: () => act('has its copies compared', () => api.verify(cluster.id, id)),
    expand: (sizeBytes: number) => act('is being resized', () => api.expand(cluster.id, id, sizeBytes)),
    salvage: (replicaIds: string[]) =>
      act('goes on with the chosen copies', () => api.salvage(cluster.id, id, replicaIds)),
  };
}
