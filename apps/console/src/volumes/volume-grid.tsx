'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { clsx } from 'clsx';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { useRouter } from 'next/navigation';
import {
  type MouseEvent,
  memo,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import type { Volume } from '../api/types';
import { paths } from '../paths';
import { NodeName } from '../shared/node-name';
import { VOLUME_STATE } from '../states';
import { VOLUME_COLUMNS, type VolumeColumn } from './columns';
import { type ColumnId, type Density, directionOf, nextSort } from './list-state';
import { isSelected, NOTHING, type Selection, selectionOf, toggled } from './selection';
import { useIsNarrow } from './use-is-narrow';

const ROW_PX: Record<Density, number> = { compact: 28, normal: 36, comfortable: 44 };
/** A card has a second line, with values that have no column of their own on a phone. */
const SECOND_LINE_PX = 24;
const CHECK_REM = 2.75;
/** Enough for most names. Where the columns leave less, the list is scrolled sideways, and the page is not. */
const NAME_REM_MIN = 12;
/** Rows drawn beyond the screen, so that a scroll or a step by the keyboard finds them there. */
const OVERSCAN = 8;
/** The next page is read this many rows before the end. */
const AHEAD = 30;

type Props = {
  rows: readonly Volume[];
  columns: readonly ColumnId[];
  density: Density;
  sort: string;
  onSort: (sort: string) => void;
  selected: Selection;
  onSelect: (next: Selection) => void;
  /** Rows near the end are shown: more are wanted. */
  onEnd: () => void;
};

/** The list of volumes, of which only the rows on the screen are drawn. */
export function VolumeGrid({ rows, columns, density, sort, onSort, selected, onSelect, onEnd }: Props) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(body.current?.offsetTop ?? 0), []);
  const isNarrow = useIsNarrow();
  const rowPx = ROW_PX[density] + (isNarrow ? SECOND_LINE_PX : 0);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowPx,
    overscan: OVERSCAN,
    // Rows beyond the screen exist already: those after them may come with the next frame, and not in the middle of this one.
    useFlushSync: false,
    scrollMargin: top,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  // A row's height is known, so that another one is a new measure of all.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height is what has changed
  useEffect(() => virtual.measure(), [rowPx]);
  const selection = useRef(selected);
  selection.current = selected;
  const toggle = useCallback((id: string) => onSelect(toggled(selection.current, id)), [onSelect]);
  const items = virtual.getVirtualItems();
  const lastIndex = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (lastIndex >= rows.length - AHEAD) onEnd();
  }, [lastIndex, rows.length, onEnd]);

  const before = (items[0]?.start ?? top) - top;
  const after = virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top);
  const follow = useFollow();
  const isAll = rows.length > 0 && rows.every(({ id }) => isSelected(selected, id));
  const shown = columns.map((id) => ({ id, column: VOLUME_COLUMNS[id] }));
  const leastRem = shown.reduce((sum, { column }) => sum + column.widthRem, CHECK_REM + NAME_REM_MIN);
  return (
    <div className="md:overflow-x-auto">
      <table
        style={isNarrow ? {} : { minWidth: `${leastRem}rem` }}
        aria-label="Volumes"
        aria-rowcount={rows.length + 1}
        className="w-full table-fixed border-separate border-spacing-0 text-sm max-md:block"
      >
        <colgroup>
          <col className="w-11" />
          <col />
          {shown.map(({ id, column }) => (
            <col key={id} style={{ width: `${column.widthRem}rem` }} />
          ))}
        </colgroup>
        <thead className="max-md:block">
          <tr
            aria-rowindex={1}
            className="text-left text-xs text-muted *:border-b *:border-border max-md:flex *:max-md:flex *:max-md:items-center"
          >
            <th scope="col" className="h-8 w-11 pl-4">
              <span className="sr-only">Selected</span>
              <Check
                label="Select all that are loaded"
                checked={isAll}
                onChange={() => onSelect(isAll ? NOTHING : selectionOf(rows.map(({ id }) => id)))}
              />
            </th>
            <Header column={{ header: 'Name', sort: 'name' }} sort={sort} onSort={onSort} />
            {shown.map(({ id, column }) => (
              <Header key={id} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the links in it take the keys, and a key makes a click too */}
        <tbody ref={body} onClick={follow} className="max-md:block">
          {before > 0 && <Gap px={before} />}
          {items.map(({ index }) => {
            const volume = rows[index];
            if (volume === undefined) return null;
            return (
              <Row
                key={volume.id}
                volume={volume}
                index={index}
                px={rowPx}
                columns={columns}
                isSelected={isSelected(selected, volume.id)}
                onToggle={toggle}
              />
            );
          })}
          {after > 0 && <Gap px={after} />}
        </tbody>
      </table>
    </div>
  );
}

/**
 * Follows the links below it without loading a page. The rows' own links are plain: a `Link` of Next.js watches more than a row of
 * a fast scroll has time for.
 */
function useFollow() {
  const router = useRouter();
  return (event: MouseEvent<HTMLElement>) => {
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || !isPlain || event.defaultPrevented) return;
    event.preventDefault();
    router.push(link.pathname);
  };
}

/** Room of rows that are not drawn. */
function Gap({ px }: { px: number }) {
  return (
    <tr aria-hidden className="max-md:block">
      <td style={{ height: px }} className="max-md:block" />
    </tr>
  );
}

type HeaderProps = {
  column: Pick<VolumeColumn, 'header' | 'sort' | 'align' | 'isWide' | 'phoneWidth'>;
  sort: string;
  onSort: (sort: string) => void;
};

function Header({ column: { header, sort: field, align, isWide, phoneWidth }, sort, onSort }: HeaderProps) {
  const direction = field === undefined ? undefined : directionOf(sort, field);
  const Arrow = direction === 'ascending' ? ArrowUp : ArrowDown;
  return (
    <th
      scope="col"
      aria-sort={direction}
      className={clsx(
        'h-8 px-4 font-medium max-sm:px-2',
        isWide ? 'max-md:hidden!' : (phoneWidth ?? 'max-md:flex-1'),
        align === 'right' && 'text-right',
      )}
    >
      {field === undefined ? (
        header
      ) : (
        <button
          type="button"
          onClick={() => onSort(nextSort(sort, field))}
          className="inline-flex min-h-6 items-center gap-1 hover:text-text"
        >
          {header}
          {direction !== undefined && <Arrow aria-hidden size={12} />}
        </button>
      )}
    </th>
  );
}

type RowProps = {
  volume: Volume;
  index: number;
  px: number;
  columns: readonly ColumnId[];
  isSelected: boolean;
  onToggle: (id: string) => void;
};

/** A row is drawn again only when something of it has changed: a list of ten thousand gets many changes a second. */
const Row = memo(function VolumeRow({
  volume,
  index,
  px,
  columns,
  isSelected,
  onToggle,
}: RowProps): ReactNode {
  return (
    <tr
      data-row
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      style={{ height: px }}
      className={clsx(
        'border-border *:border-border max-md:flex max-md:flex-wrap max-md:items-center max-md:border-b md:*:border-b',
        isSelected ? 'bg-busy-soft' : 'hover:bg-hover',
      )}
    >
      <td className="w-11 pl-4">
        <Check label={`Select ${volume.name}`} checked={isSelected} onChange={() => onToggle(volume.id)} />
      </td>
      <td className="truncate px-4 max-md:min-w-0 max-md:flex-1 max-sm:px-2">
        <a
          href={paths.volume(volume.id)}
          className="inline-flex min-h-6 items-center font-medium hover:underline"
        >
          {volume.name}
        </a>
      </td>
      {columns.map((id) => {
        const { align, isWide, phoneWidth, cell } = VOLUME_COLUMNS[id];
        return (
          <td
            key={id}
            className={clsx(
              'px-4 max-sm:px-2',
              phoneWidth,
              align === 'right' && 'whitespace-nowrap text-right tabular-nums',
              isWide && 'max-md:hidden',
            )}
          >
            {cell(volume)}
          </td>
        );
      })}
      <td
        className="truncate pl-13 pr-4 text-xs text-muted max-md:basis-full md:hidden"
        style={{ height: SECOND_LINE_PX }}
      >
        {formatBytes(volume.size)} ·{' '}
        {volume.attachedNodeId === null ? (
          VOLUME_STATE[volume.state].word
        ) : (
          <>
            {VOLUME_STATE[volume.state].word} to <NodeName id={volume.attachedNodeId} />
          </>
        )}
      </td>
    </tr>
  );
});

function Check({ label, checked, onChange }: { label: string; checked: boolean; onChange: () => void }) {
  return (
    <label className="flex size-6 items-center justify-center">
      <input type="checkbox" aria-label={label} checked={checked} onChange={onChange} className="size-3.5" />
    </label>
  );
}
