import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { noteDone, noteRefusal } from './notes';

type Action<Asked, Result> = {
  run: (asked: Asked) => Promise<Result>;
  /** Note shown once the API has accepted it; `shown`: the page itself shows the result, such as a secret or another page. */
  done: ((result: Result, asked: Asked) => string) | 'shown';
  /** Place of a refusal: in a note, or beside the button, by the caller. */
  refusal: 'noted' | 'beside';
  /** Queries that are repeated after it, whether it was accepted or not. */
  stale: readonly QueryKey[] | 'all';
  /** Closes the dialog, or goes to another page. */
  onDone?: (result: Result, asked: Asked) => void;
};

/** The only way in which the console changes anything: every result and refusal is shown to the user. */
export function useAction<Asked = void, Result = unknown>(action: Action<Asked, Result>) {
  const { run, done, refusal, stale, onDone } = action;
  const queryClient = useQueryClient();
  // A dialog that was closed before the answer came can show nothing.
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  return useMutation({
    mutationFn: run,
    onSuccess: (result: Result, asked: Asked) => {
      if (done !== 'shown') noteDone(done(result, asked));
      onDone?.(result, asked);
    },
    onError: (error) => {
      if (refusal === 'noted' || isGone.current) noteRefusal(error);
    },
    onSettled: () => {
      if (stale === 'all') void queryClient.invalidateQueries();
      else for (const queryKey of stale) void queryClient.invalidateQueries({ queryKey });
    },
  });
}
