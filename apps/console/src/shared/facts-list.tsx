import type { ReactNode } from 'react';

/** Properties of an object, as terms with their values. Those without a value are left out. */
export function FactsList({ facts }: { facts: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-sm">
      {Object.entries(facts).map(([term, value]) =>
        value === undefined ? null : (
          <div key={term} className="contents">
            <dt className="text-muted">{term}</dt>
            <dd className="min-w-0 text-right tabular-nums break-words">{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
