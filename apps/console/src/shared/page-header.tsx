import type { ReactNode } from 'react';
import { PAGE_ACTIONS } from './page-actions';

type Props = { title: string; subtitle?: ReactNode; actions?: ReactNode };

/** The head of a page: its name, one line about it, and its actions. */
export function PageHeader({ title, subtitle, actions }: Props) {
  return (
    <div className="mb-4 flex flex-wrap items-start justify-between gap-3">
      <div className="min-w-0">
        <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
        {subtitle !== undefined && <div className="mt-0.5 text-sm text-muted">{subtitle}</div>}
      </div>
      {actions !== undefined && (
        <div {...{ [PAGE_ACTIONS]: true }} className="flex flex-wrap gap-2">
          {actions}
        </div>
      )}
    </div>
  );
}
