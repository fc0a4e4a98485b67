/** Search of the list of volumes: a word looks for names, anything else is the API's own filter. */

import { completeFilter } from '@holdfast/core/listing/complete-filter.js';
import { parseFilter } from '@holdfast/core/listing/filter.js';
import { VOLUME_FIELDS } from '@holdfast/core/listing/list-fields.js';
import { VOLUME_OVERRIDES } from '@holdfast/core/model/volume-overrides.js';
import type { Complete } from '../shared/filter-input';
import type { QuickFilter } from '../shared/list-search';
import { VOLUME_STATE } from '../states';

/** A name as users type it, or the beginning of one. */
const NAME = /^[a-z0-9][a-z0-9.-]*$/i;

export function filterOf(text: string): string {
  const trimmed = text.trim();
  return NAME.test(trimmed) ? `name=${trimmed.toLowerCase()}*` : trimmed;
}

/** The filters that operators use most. */
export const QUICK_FILTERS: readonly QuickFilter[] = [
  { label: 'All', filter: '' },
  { label: 'Need a look', filter: 'robustness!=healthy' },
  { label: 'Attached', filter: 'state=attached' },
  { label: 'Detached', filter: 'state=detached' },
];

const VALUES = {
  state: Object.keys(VOLUME_STATE).sort(),
  robustness: ['healthy', 'degraded', 'unknown', 'faulted'],
  overrides: VOLUME_OVERRIDES.map(({ field }) => field).sort(),
};

export const completeVolumeFilter: Complete = (head) =>
  completeFilter(head, { fields: VOLUME_FIELDS, values: VALUES });

/** Why the API would refuse a filter; `undefined` where it reads it. */
export function problemOf(filter: string): string | undefined {
  try {
    parseFilter(filter, VOLUME_FIELDS);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'can not be read';
  }
}
