/** A filter's answer for one object in memory, as the database gives it for a row. */
import type { Comparison, Filter, FilterValue } from './filter.js';

export type FilteredFields = Readonly<Record<string, FilterValue>>;

export function matchesFilter(filter: Filter, fields: FilteredFields): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.parts.every((part) => matchesFilter(part, fields));
    case 'or':
      return filter.parts.some((part) => matchesFilter(part, fields));
    case 'comparison':
      return matches(filter, fields[filter.field]);
  }
}

function matches({ operator, values }: Comparison, actual: FilterValue | undefined): boolean {
  const [value] = values;
  const negative = operator === '!=' || operator === 'not-prefix';
  if (actual === undefined || value === undefined) return negative;
  switch (operator) {
    case '=':
      return actual === value;
    case '!=':
      return actual !== value;
    case '<':
      return actual < value;
    case '<=':
      return actual <= value;
    case '>':
      return actual > value;
    case '>=':
      return actual >= value;
    case 'in':
      return values.includes(actual);
    case 'prefix':
      return String(actual).startsWith(String(value));
    case 'not-prefix':
      return !String(actual).startsWith(String(value));
  }
}
