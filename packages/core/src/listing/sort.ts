/** The order of a list, as text: names of fields by commas, each with a minus in front for descending. `-size,name`. */
import { type FieldType, type FieldTypes, invalidQuery } from './filter.js';

export type SortKey = { readonly field: string; readonly descending: boolean };

/** A field with several values of one object has no order. */
const UNSORTED: readonly (FieldType | undefined)[] = ['labels', 'ids', 'texts'];

/** Users sort by two; a third settles what those leave open. */
const KEYS_MAX = 3;

/** @throws StorageFault `request.invalid` */
export function parseSort(text: string, fields: FieldTypes): SortKey[] {
  const keys = text.split(',').map((part): SortKey => {
    const name = part.trim().replace(/^-/, '');
    const known = Object.keys(fields).filter((field) => !UNSORTED.includes(fields[field]));
    if (!known.includes(name))
      throw invalidQuery('sort', `has no field ${name}; there are ${known.join(', ')}`);
    return { field: name, descending: part.trim().startsWith('-') };
  });
  if (keys.length > KEYS_MAX) throw invalidQuery('sort', `has more than ${KEYS_MAX} fields`);
  if (new Set(keys.map(({ field }) => field)).size < keys.length)
    throw invalidQuery('sort', 'names a field twice');
  return keys;
}
