/** Completion of a filter that is being typed: fields, operators, known values and the words that join comparisons. */
import type { FieldTypes } from './filter.js';

/** Completion at the cursor, replacing the text from `from` to it. */
export type Completion = { readonly from: number; readonly options: readonly string[] };

/** Values that a field has, for those that have few. */
export type KnownValues = Readonly<Record<string, readonly string[]>>;

type Grammar = { readonly fields: FieldTypes; readonly values: KnownValues };

const OPTIONS_MAX = 12;
const FIELD = '[A-Za-z][A-Za-z0-9./_-]*';
const VALUE = new RegExp(`(${FIELD})\\s*(?:!=|>=|<=|=|>|<)\\s*"?([^\\s"(),=!<>]*)$`);
const CHOICE = new RegExp(`(${FIELD})\\s+in\\s*\\([^)]*?([^\\s"(),=!<>]*)$`, 'i');
/** Behind a comparison that is complete. */
const JOINT = /(?:(?:=|>|<)\s*(?:"[^"]*"|[^\s"(),=!<>]+)|\))\s+([A-Za-z]*)$/;
const WORD = new RegExp(`(?:^|[\\s(])(${FIELD})?$`);

/** @param head the text up to the cursor */
export function completeFilter(head: string, { fields, values }: Grammar): Completion {
  const value = VALUE.exec(head) ?? CHOICE.exec(head);
  if (value !== null) return completion(head, value[2] ?? '', valuesOf(value[1] ?? '', { fields, values }));
  const joint = JOINT.exec(head);
  if (joint !== null) return completion(head, joint[1] ?? '', ['AND', 'OR']);
  const word = WORD.exec(head)?.[1];
  if (word !== undefined && Object.hasOwn(fields, word) && fields[word] !== 'labels')
    return { from: head.length, options: operatorsOf(fields, word) };
  return completion(head, word ?? '', fieldNames(fields));
}

/** Completions of the typed text; one that is complete needs none. */
function completion(head: string, typed: string, known: readonly string[]): Completion {
  const start = typed.toLowerCase();
  const options = known.filter(
    (option) => option.toLowerCase().startsWith(start) && option.toLowerCase() !== start,
  );
  return { from: head.length - typed.length, options: options.slice(0, OPTIONS_MAX) };
}

function fieldNames(fields: FieldTypes): string[] {
  return Object.entries(fields).map(([name, type]) => (type === 'labels' ? `${name}.` : name));
}

function operatorsOf(fields: FieldTypes, field: string): string[] {
  const type = fields[field];
  return type === 'number' || type === 'time' ? ['=', '!=', '>', '>=', '<', '<='] : ['=', '!=', ' in ('];
}

function valuesOf(field: string, { fields, values }: Grammar): readonly string[] {
  if (fields[field] === 'boolean') return ['true', 'false'];
  return Object.hasOwn(values, field) ? (values[field] ?? []) : [];
}
