/**
 * The filter grammar of lists: `field=value AND field>value …`. Operators: = != and, for numbers and times, > >= < <=.
 * A value is a word, or quoted when it has spaces: `name="my volume"`. Numbers may end in Ki, Mi, Gi or Ti.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';

export type FieldType = 'text' | 'id' | 'number' | 'time' | 'boolean';

/** What a list may be filtered and sorted by: the name in the API, and its place in SQL. Never null when sorted by. */
export type ListField = { sql: string; type: FieldType };
export type ListFields = Readonly<Record<string, ListField>>;

const OPERATORS = ['!=', '>=', '<=', '=', '>', '<'] as const;
export type Operator = (typeof OPERATORS)[number];
export type Comparison = { field: ListField; operator: Operator; value: string | number | boolean };

/** Longer filters are made by programs that should ask for less. Bounds the SQL that one request can make. */
const COMPARISONS_MAX = 10;
const FILTER_LENGTH_MAX = 1_000;

const COMPARISON =
  /^\s*([A-Za-z][A-Za-z.]*)\s*(!=|>=|<=|=|>|<)\s*(?:"([^"]*)"|([^\s"]+))\s*(?:(?:AND|and)\s+(?=\S)|$)/;
const UNITS: Readonly<Record<string, number>> = { '': 1, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function parseFilter(text: string, fields: ListFields): Comparison[] {
  if (text.length > FILTER_LENGTH_MAX) throw invalid(`is longer than ${FILTER_LENGTH_MAX} characters`);
  const comparisons: Comparison[] = [];
  let rest = text;
  while (rest.trim() !== '') {
    const match = COMPARISON.exec(rest);
    if (match === null) throw invalid(`can't be read from here on: ${rest.trim()}`);
    if (comparisons.length === COMPARISONS_MAX) throw invalid(`has more than ${COMPARISONS_MAX} comparisons`);
    const [whole, name = '', operator = '', quoted, word] = match;
    comparisons.push(toComparison(fields, name, operator, quoted ?? word ?? ''));
    rest = rest.slice(whole.length);
  }
  return comparisons;
}

function toComparison(fields: ListFields, name: string, operatorText: string, value: string): Comparison {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field === undefined) {
    throw invalid(`has no field ${name}; there are ${Object.keys(fields).join(', ')}`);
  }
  const operator = OPERATORS.find((known) => known === operatorText);
  if (operator === undefined) throw invalid(`has no operator ${operatorText}`);
  const ordered = field.type === 'number' || field.type === 'time';
  if (!ordered && operator !== '=' && operator !== '!=')
    throw invalid(`can compare ${name} by = and != only`);
  return { field, operator, value: parseValue(field.type, name, value) };
}

function parseValue(type: FieldType, name: string, text: string): string | number | boolean {
  switch (type) {
    case 'text':
      return text;
    case 'id':
      if (!UUID.test(text)) throw invalid(`needs an id for ${name}`);
      return text.toLowerCase();
    case 'number': {
      const match = /^(-?\d+(?:\.\d+)?)(|Ki|Mi|Gi|Ti)$/.exec(text);
      if (match === null) throw invalid(`needs a number for ${name}`);
      return Number(match[1]) * (UNITS[match[2] ?? ''] ?? 1);
    }
    case 'time': {
      const year = new Date(text).getUTCFullYear();
      // Postgres writes other years in another way than JavaScript does.
      if (!(year >= 1 && year <= 9999)) {
        throw invalid(`needs a time for ${name}, like 2026-01-31T12:00:00Z, in the years 1 to 9999`);
      }
      return new Date(text).toISOString();
    }
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw invalid(`needs true or false for ${name}`);
      return text === 'true';
  }
}

function invalid(detail: string): StorageFault {
  return invalidQuery('filter', detail);
}

/** A wrong query parameter; its name stands where a body's JSON Pointer would. */
export function invalidQuery(parameter: string, detail: string): StorageFault {
  return new StorageFault('request.invalid', {
    publicMessage: `${parameter} ${detail}`,
    errors: [{ pointer: parameter, detail }],
  });
}
