/**
 * Chapters of one story: after one that failed, or is not done within its time, the others fail at once. Each of them would wait out
 * its own time for a stack that is broken, which takes longer than a whole run may.
 */
export function inTurn() {
  let unfinished: string | undefined;
  return <Args extends unknown[]>(name: string, act: (...args: Args) => Promise<void>) =>
    async (...args: Args): Promise<void> => {
      if (unfinished !== undefined) throw new Error(`not tried, since an earlier part failed: ${unfinished}`);
      unfinished = name;
      await act(...args);
      unfinished = undefined;
    };
}
