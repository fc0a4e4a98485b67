import { useAction } from './use-action';

type Change<Asked> = {
  run: (asked: Asked) => Promise<unknown>;
  /** Note shown once it is accepted. */
  done: string;
  /** Place of a refusal: in a note, or in the form of the caller. */
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
