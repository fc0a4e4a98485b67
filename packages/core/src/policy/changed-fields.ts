/** Words for a change of what users want: each field that differs, with its new and its old value. */
import { formatBytes } from '../model/bytes.js';

/**
 * `allow scheduling: no, was yes; tags: ssd, was none; storage reserved: 1 GiB, was 0 B`
 *
 * @returns undefined where no field differs
 */
export function changedFields<Spec>(
  before: Spec,
  after: Spec,
  fields: readonly (keyof Spec & string)[],
): string | undefined {
  const changes = fields.flatMap((field) => {
    const [was, is] = [valueWords(field, before[field]), valueWords(field, after[field])];
    return was === is ? [] : [`${fieldWords(field)}: ${is}, was ${was}`];
  });
  return changes.length === 0 ? undefined : changes.join('; ');
}

const BYTES = /_?bytes$/i;

/** `storageReservedBytes`, or as Postgres spells it, as `storage reserved`. */
export function fieldWords(field: string): string {
  const name = field.replace(BYTES, '').replaceAll('_', ' ');
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** A value as people write it, in the unit that its field's name ends in. */
export function valueWords(field: string, value: unknown): string {
  if (value === undefined || value === null || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number' && BYTES.test(field)) return formatBytes(value);
  if (Array.isArray(value)) {
    return value.length === 0 ? 'none' : value.map((one) => valueWords(field, one)).join(', ');
  }
  if (typeof value !== 'object') return String(value);
  const parts = Object.entries(value).map(([key, part]) => `${key}=${valueWords(key, part)}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}
