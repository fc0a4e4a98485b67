'use client';
import { Button } from '@holdfast/ui/button.js';
import { useState } from 'react';
import { useForbidden } from '../api/use-access';
import type { BulkItem } from './bulk';
import { BULK_ACTIONS, type BulkAction } from './bulk-action-table';
import { BulkDialog } from './bulk-dialog';

type Props = {
  items: readonly BulkItem[];
  /** Why none of the actions may begin yet. */
  missing: string | undefined;
  /** All that match are selected, and not some by their names. */
  isAll: boolean;
  /** Selects all that match; left out where those that are selected are all. */
  onAll: (() => void) | undefined;
  /** Text beside the count. */
  note: string | undefined;
  onClear: () => void;
};

/** Actions on the selected volumes, all at once. */
export function BulkActions({ items, missing, isAll, onAll, note, onClear }: Props) {
  const [action, setAction] = useState<BulkAction>();
  const forbidden = useForbidden()('volume:write');
  if (items.length === 0 && missing === undefined && action === undefined) return null;
  return (
    <div
      role="toolbar"
      aria-label="Actions on the selected volumes"
      className="sticky bottom-0 z-30 flex flex-wrap items-center gap-2 border-t border-border bg-raised px-4 py-2"
    >
      <p role="status" className="mr-2 text-sm font-medium">
        {isAll ? 'All that match: ' : ''}
        {items.length.toLocaleString('en')} selected
        {note !== undefined && <span className="block text-xs font-normal text-muted">{note}</span>}
      </p>
      {BULK_ACTIONS.map((one) => (
        <Button
          key={one.label}
          variant={one.isDestructive ? 'danger' : 'secondary'}
          disabledReason={forbidden ?? missing}
          onClick={() => setAction(one)}
        >
          {one.label}
        </Button>
      ))}
      {onAll !== undefined && (
        <Button variant="ghost" onClick={onAll}>
          Select all that match
        </Button>
      )}
      <Button variant="ghost" onClick={onClear}>
        Select none
      </Button>
      {action !== undefined && (
        <BulkDialog action={action} items={items} onClose={() => setAction(undefined)} onDone={onClear} />
      )}
    </div>
  );
}
