import { clsx } from 'clsx';
import type { ReactNode } from 'react';

type Props = {
  title: string;
  /** The question that this panel answers, or what its numbers mean. */
  hint?: string;
  aside?: ReactNode;
  children: ReactNode;
  className?: string;
  flush?: boolean;
};

/** A titled box. `flush` lets a table touch its edges. */
export function Panel({ title, hint, aside, children, className, flush = false }: Props) {
  return (
    <section
      aria-label={title}
      className={clsx('rounded-lg border border-border bg-raised shadow-panel', className)}
    >
      <header className="flex min-h-11 flex-wrap items-center justify-between gap-x-3 gap-y-2 border-b border-border px-4 py-2">
        <div className="min-w-0">
          <h2 className="text-sm font-semibold text-text">{title}</h2>
          {hint !== undefined && <p className="text-xs text-muted">{hint}</p>}
        </div>
        {aside}
      </header>
      <div className={flush ? 'overflow-x-auto' : 'p-4'}>{children}</div>
    </section>
  );
}
