import type { ReplicaCounts } from '../api/types';

/** `silent`: on nodes that do not answer, left out where the node says it. */
export type CopyCount = Pick<ReplicaCounts['disks'][number], 'total' | 'failed' | 'rebuilding'> & {
  readonly silent?: number;
};

/** Copies by state, if blocks would be too many to be told apart. */
export function CountedCopies({ count, isSilent }: { count: CopyCount | undefined; isSilent: boolean }) {
  if (count === undefined) return <span className="text-xs text-faint">no copies</span>;
  const { total, failed, rebuilding, silent = isSilent ? total : 0 } = count;
  const healthy = total - failed - rebuilding - silent;
  return (
    <span className="flex flex-wrap gap-x-2 text-xs tabular-nums">
      <span>{total === 1 ? '1 copy' : `${total.toLocaleString('en')} copies`}</span>
      {isSilent && <span className="text-bad">✕ no answer</span>}
      {!isSilent && silent > 0 && <span className="text-bad">✕ {silent.toLocaleString('en')} no answer</span>}
      {!isSilent && healthy > 0 && <span className="text-good">✓ {healthy.toLocaleString('en')}</span>}
      {!isSilent && rebuilding > 0 && <span className="text-busy">↻ {rebuilding}</span>}
      {!isSilent && failed > 0 && <span className="text-bad">✕ {failed}</span>}
    </span>
  );
}
