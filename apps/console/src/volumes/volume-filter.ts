/** Search of the list of volumes: a word looks for names, anything else is the API's own filter. */

import type { QuickFilter } from '../shared/list-search';

/** A name as users type it, or the beginning of one. */
const NAME = /^[a-z0-9][a-z0-9.-]*$/i;

export function filterOf(text: string): string {
  const trimmed = text.trim();
  return NAME.test(trimmed) ? `name=${trimmed.toLowerCase()}*` : trimmed;
}

/** What operators look for most. */
export const QUICK_FILTERS: readonly QuickFilter[] = [
  { label: 'All', filter: '' },
  { label: 'Need a look', filter: 'robustness!=healthy' },
  { label: 'Attached', filter: 'state=attached' },
  { label: 'Detached', filter: 'state=detached' },
];
