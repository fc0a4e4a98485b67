import { useMutation, useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import { isProblem } from '../api/problem';

/** A change of a node: a refusal is told, and the nodes are read again either way. */
export function useNodeChange<Asked>(change: (asked: Asked) => Promise<unknown>, onSuccess?: () => void) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => onSuccess?.(),
    onError: (error) => toast.error(isProblem(error) ? error.detail : 'There was no answer.'),
    onSettled: () => {
      for (const what of ['nodes', 'disks']) void queryClient.invalidateQueries({ queryKey: [what] });
    },
  });
}
