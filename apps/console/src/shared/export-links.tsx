'use client';
import { Popover } from '@holdfast/ui/popover.js';
import { Download } from 'lucide-react';
import { useSearchParams } from 'next/navigation';
import { Suspense } from 'react';

/** Content of one export of the API. */
const EXPORTED_MAX = 100_000;
const FORMATS = [
  { format: 'csv', label: 'CSV, for a spreadsheet' },
  { format: 'ndjson', label: 'NDJSON, one object a line' },
] as const;

/** @param path of the route, below the origin; @param what is exported, such as `events` */
type Props = { path: string; what: string };

/** Files with what the list of the page shows: by its filter, beyond the rows that are drawn. */
export function ExportLinks(props: Props) {
  return (
    <Suspense>
      <Links {...props} />
    </Suspense>
  );
}

function Links({ path, what }: Props) {
  const filter = (useSearchParams().get('q') ?? '').trim();
  return (
    <Popover isFramed label="Export" icon={<Download aria-hidden size={15} />}>
      <ul className="flex flex-col gap-1">
        {FORMATS.map(({ format, label }) => (
          <li key={format}>
            <a
              href={`${path}?${new URLSearchParams({ format, ...(filter === '' ? {} : { filter }) })}`}
              download={`${what}.${format}`}
              className="flex min-h-8 items-center rounded px-2 hover:bg-hover"
            >
              {label}
            </a>
          </li>
        ))}
      </ul>
      <p className="mt-2 px-2 text-xs text-muted">
        {filter === '' ? `All ${what}` : `The ${what} of this filter`}, the oldest first, at most{' '}
        {EXPORTED_MAX.toLocaleString('en')}. A filter such as <code>at&gt;2026-01-01T00:00:00Z</code> has the
        later ones.
      </p>
    </Popover>
  );
}
