/** Search of the list of volumes: a word looks for names, anything else is the API's own filter. */

/** A name as users type it, or the beginning of one. */
const NAME = /^[a-z0-9][a-z0-9.-]*$/i;

export function filterOf(text: string): string {
  const trimmed = text.trim();
  return NAME.test(trimmed) ? `name=${trimmed.toLowerCase()}*` : trimmed;
}

export type QuickFilter = { readonly label: string; readonly filter: string };

/** What operators look for most. */
export const QUICK_FILTERS: readonly QuickFilter[] = [
  { label: 'All', filter: '' },
  { label: 'Need a look', filter: 'robustness!=healthy' },
  { label: 'Attached', filter: 'state=attached' },
  { label: 'Detached', filter: 'state=detached' },
];
