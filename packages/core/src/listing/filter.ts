/**
 * The filter grammar of lists, one for API, CLI and console: comparisons joined by `AND` and `OR`, with parentheses; `AND` binds
 * tighter. `state=degraded AND (zone in (a, b) OR name=pg-*) AND size>=100Gi`.
 *
 * A value is a word, or text in double quotes. A word that ends in `*` stands for all texts that begin so; in quotes the star is a
 * star. Numbers may end in Ki, Mi, Gi or Ti. A label is a field of its own, `labels.team`: `labels.team=*` has it, whatever its value,
 * and `labels.team!=*` lacks it.
 */
import { StorageFault } from '../model/faults.js';
import { LABEL_KEY } from '../model/labels.js';

/**
 * `labels`: a text for each key, `labels.team`; an object may lack any. `ids`: the ids of several others, such as the nodes of a volume's
 * copies: `=` finds the objects of which one matches, `!=` those of which none does. `texts`: several texts, such as tags, likewise.
 */
export type FieldType = 'text' | 'texts' | 'id' | 'ids' | 'number' | 'time' | 'boolean' | 'labels';
/** Field by which a list may be filtered: names as in the API. */
export type FieldTypes = Readonly<Record<string, FieldType>>;

export type FilterValue = string | number | boolean;
export type FilterOperator = '=' | '!=' | '>' | '>=' | '<' | '<=' | 'in' | 'prefix' | 'not-prefix';
export type Comparison = {
  readonly kind: 'comparison';
  readonly field: string;
  readonly operator: FilterOperator;
  /** One; of `in` one or more. Times are RFC 3339 in UTC, ids lower case. */
  readonly values: readonly FilterValue[];
};
export type Filter = Comparison | { readonly kind: 'and' | 'or'; readonly parts: readonly Filter[] };

/** Longer filters are made by programs that should use other requests. Bounds the query that one request can make. */
const COMPARISONS_MAX = 10;
const VALUES_MAX = 50;
const DEPTH_MAX = 5;
const FILTER_LENGTH_MAX = 1_000;

const TOKEN = /\s*(?:(?<mark>[(),])|(?<operator>!=|>=|<=|=|>|<)|"(?<quoted>[^"]*)"|(?<word>[^\s"(),=!<>]+))/y;
/** Beginning of the fields of labels. */
const LABELS = 'labels.';
const FIELD = /^[A-Za-z][A-Za-z.]*$/;
const UNITS: Readonly<Record<string, number>> = { '': 1, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Token = {
  readonly kind: 'mark' | 'operator' | 'quoted' | 'word';
  readonly text: string;
  readonly at: number;
};

/**
 * @returns `undefined` for a text of spaces only: everything is listed
 * @throws StorageFault `request.invalid`, which says from where on it can't be read
 */
export function parseFilter(text: string, fields: FieldTypes): Filter | undefined {
  if (text.length > FILTER_LENGTH_MAX) throw invalid(`is longer than ${FILTER_LENGTH_MAX} characters`);
  const tokens = tokensOf(text);
  if (tokens.length === 0) return undefined;
  const reader = new Reader(text, tokens, fields);
  const filter = reader.either(0);
  reader.end();
  return filter;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  let at = 0;
  while (text.slice(at).trim() !== '') {
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(text)?.groups;
    if (groups === undefined) throw unreadable(text, at);
    const kind = (['mark', 'operator', 'quoted', 'word'] as const).find((one) => groups[one] !== undefined);
    if (kind === undefined) throw unreadable(text, at);
    tokens.push({ kind, text: groups[kind] ?? '', at });
    at = TOKEN.lastIndex;
  }
  return tokens;
}

class Reader {
  private next = 0;
  private comparisons = 0;

  constructor(
    private readonly text: string,
    private readonly tokens: readonly Token[],
    private readonly fields: FieldTypes,
  ) {}

  either(depth: number): Filter {
    const parts = [this.all(depth)];
    while (this.takes('word', 'or')) parts.push(this.all(depth));
    return joined('or', parts);
  }

  end(): void {
    if (this.next < this.tokens.length) throw this.unreadable();
  }

  private all(depth: number): Filter {
    const parts = [this.one(depth)];
    while (this.takes('word', 'and')) parts.push(this.one(depth));
    return joined('and', parts);
  }

  private one(depth: number): Filter {
    if (!this.takes('mark', '(')) return this.comparison();
    if (depth === DEPTH_MAX) throw invalid(`has more than ${DEPTH_MAX} parentheses in each other`);
    const inner = this.either(depth + 1);
    if (!this.takes('mark', ')')) throw this.unreadable();
    return inner;
  }

  private comparison(): Comparison {
    const name = this.take('word');
    if (!FIELD.test(name.text) && labelKeyOf(name.text) === undefined) throw unreadable(this.text, name.at);
    if (this.comparisons === COMPARISONS_MAX) throw invalid(`has more than ${COMPARISONS_MAX} comparisons`);
    this.comparisons += 1;
    const type = typeOf(this.fields, name.text);
    if (this.takes('word', 'in')) return this.choice(name.text, type);
    const operator = this.take('operator').text;
    return comparisonOf(name.text, type, operator, this.value());
  }

  private choice(field: string, type: FieldType): Comparison {
    if (!this.takes('mark', '(')) throw this.unreadable();
    const values = [this.value()];
    while (this.takes('mark', ',')) values.push(this.value());
    if (!this.takes('mark', ')')) throw this.unreadable();
    if (values.length > VALUES_MAX) throw invalid(`names more than ${VALUES_MAX} values of ${field}`);
    return {
      kind: 'comparison',
      field,
      operator: 'in',
      values: values.map(({ text }) => readValue(type, field, text)),
    };
  }

  private value(): Token {
    const token = this.tokens[this.next];
    if (token?.kind !== 'quoted' && token?.kind !== 'word') throw this.unreadable();
    this.next += 1;
    return token;
  }

  private take(kind: Token['kind']): Token {
    const token = this.tokens[this.next];
    if (token?.kind !== kind) throw this.unreadable();
    this.next += 1;
    return token;
  }

  private takes(kind: Token['kind'], text: string): boolean {
    const token = this.tokens[this.next];
    if (token?.kind !== kind || token.text.toLowerCase() !== text) return false;
    this.next += 1;
    return true;
  }

  private unreadable(): StorageFault {
    return unreadable(this.text, this.tokens[this.next]?.at ?? this.text.length);
  }
}

function joined(kind: 'and' | 'or', parts: readonly Filter[]): Filter {
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : { kind, parts };
}

function typeOf(fields: FieldTypes, name: string): FieldType {
  if (labelKeyOf(name) !== undefined && Object.values(fields).includes('labels')) return 'labels';
  const type = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (type === 'labels') throw invalid(`needs the key of a label, as in ${name}.team`);
  if (type === undefined) throw invalid(`has no field ${name}; there are ${Object.keys(fields).join(', ')}`);
  return type;
}

/** The key in the name of a label's field; undefined for other fields. */
export function labelKeyOf(field: string): string | undefined {
  const key = field.startsWith(LABELS) ? field.slice(LABELS.length) : '';
  return LABEL_KEY.test(key) ? key : undefined;
}

function comparisonOf(field: string, type: FieldType, operator: string, { kind, text }: Token): Comparison {
  const isPrefix =
    (type === 'text' || type === 'texts' || type === 'labels') && kind === 'word' && text.endsWith('*');
  const known = OPERATORS.find((one) => one === operator);
  if (known === undefined) throw invalid(`has no operator ${operator}`);
  const isOrdered = type === 'number' || type === 'time';
  if (!isOrdered && known !== '=' && known !== '!=')
    throw invalid(`can compare ${field} by =, != and in only`);
  if (isPrefix)
    return {
      kind: 'comparison',
      field,
      operator: known === '=' ? 'prefix' : 'not-prefix',
      values: [text.slice(0, -1)],
    };
  return { kind: 'comparison', field, operator: known, values: [readValue(type, field, text)] };
}

const OPERATORS = ['!=', '>=', '<=', '=', '>', '<'] as const;

function readValue(type: FieldType, name: string, text: string): FilterValue {
  switch (type) {
    case 'text':
    case 'texts':
    case 'labels':
      return text;
    case 'id':
    case 'ids':
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
      if (!(year >= 1 && year <= 9999))
        throw invalid(`needs a time for ${name}, like 2026-01-31T12:00:00Z, in the years 1 to 9999`);
      return new Date(text).toISOString();
    }
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw invalid(`needs true or false for ${name}`);
      return text === 'true';
  }
}

/** The filter as text that reads as the same filter. */
export function filterText(filter: Filter): string {
  if (filter.kind !== 'comparison') {
    const word = filter.kind === 'and' ? ' AND ' : ' OR ';
    return filter.parts
      .map((part) => (part.kind === 'comparison' ? filterText(part) : `(${filterText(part)})`))
      .join(word);
  }
  const { field, operator, values } = filter;
  if (operator === 'in') return `${field} in (${values.map(quoted).join(', ')})`;
  if (operator === 'prefix') return `${field}=${String(values[0])}*`;
  if (operator === 'not-prefix') return `${field}!=${String(values[0])}*`;
  return `${field}${operator}${quoted(values[0] ?? '')}`;
}

function quoted(value: FilterValue): string {
  return typeof value === 'string' ? `"${value}"` : String(value);
}

function unreadable(text: string, at: number): StorageFault {
  return invalid(`can't be read from here on: ${text.slice(at).trim() || 'its end'}`);
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
