/** State of the list of volumes, all of it in the address: search, order, columns, density of rows, and selection. */
import { NOTHING, readSelection, type Selection, writeSelection } from './selection';

export const COLUMNS = [
  'health',
  'copies',
  'state',
  'attached',
  'size',
  'written',
  'labels',
  'created',
] as const;
export type ColumnId = (typeof COLUMNS)[number];

export const DENSITIES = ['compact', 'normal', 'comfortable'] as const;
export type Density = (typeof DENSITIES)[number];

export type ListState = {
  readonly text: string;
  /** As the API has it. */
  readonly sort: string;
  readonly columns: readonly ColumnId[];
  readonly density: Density;
  readonly selection: Selection;
};

/** Worst first, so that the list starts with volumes that need attention. */
const DEFAULTS: ListState = {
  text: '',
  sort: '-risk,name',
  columns: ['health', 'copies', 'state', 'attached', 'size', 'written'],
  density: 'normal',
  selection: NOTHING,
};

const SORT = /^-?[A-Za-z]+(,-?[A-Za-z]+)?$/;

/** Whatever an address says: what can't be read is as if it were not there. */
export function readListState(params: URLSearchParams): ListState {
  const sort = params.get('sort') ?? '';
  const named = params.get('columns')?.split(',');
  const density = DENSITIES.find((one) => one === params.get('density'));
  return {
    text: params.get('q') ?? DEFAULTS.text,
    sort: SORT.test(sort) ? sort : DEFAULTS.sort,
    columns: named === undefined ? DEFAULTS.columns : COLUMNS.filter((one) => named.includes(one)),
    density: density ?? DEFAULTS.density,
    selection: readSelection(params),
  };
}

/** The query of an address, without defaults; empty for the usual list. */
export function writeListState({ text, sort, columns, density, selection }: ListState): string {
  const params = new URLSearchParams();
  if (text !== '') params.set('q', text);
  if (sort !== DEFAULTS.sort) params.set('sort', sort);
  if (columns.join() !== DEFAULTS.columns.join()) params.set('columns', columns.join());
  if (density !== DEFAULTS.density) params.set('density', density);
  writeSelection(params, selection);
  return params.toString();
}

/** The order after a click on a column: the usual direction first, then the other one. */
export function nextSort(current: string, field: string): string {
  const [first = ''] = current.split(',');
  const usual = field === 'name' || field === 'state' ? field : `-${field}`;
  const other = usual.startsWith('-') ? field : `-${field}`;
  const next = first === usual ? other : usual;
  return field === 'name' ? next : `${next},name`;
}

/** How a column is sorted now, as tables say it. */
export function directionOf(current: string, field: string): 'ascending' | 'descending' | undefined {
  const [first = ''] = current.split(',');
  if (first === field) return 'ascending';
  return first === `-${field}` ? 'descending' : undefined;
}
