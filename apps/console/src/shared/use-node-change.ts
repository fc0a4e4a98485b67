import { useAction } from './use-action';

type Change<Asked> = {
  run: (asked: Asked) => Promise<unknown>;
  /** What is noted once it is taken. */
  done: string;
  /** Where a refusal is told: in a note, or in the form of the caller. */
  refusal: 'noted' | 'beside';
  onDone?: () => void;
};

/** A change of a node or its disks, which are read again either way. */
export function useNodeChange<Asked = void>({ run, done, refusal, onDone }: Change<Asked>) {
  return useAction<Asked>({
    run,
    done: () => done,
    refusal,
    stale: [['nodes'], ['disks']],
    onDone: () => onDone?.(),
  });
}
