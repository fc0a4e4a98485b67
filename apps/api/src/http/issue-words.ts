/**
 * Messages for invalid fields, as the requirement behind the field's name: `size must be at least 4096`. Schemas that word their own checks
 * do so in the same way.
 */
import { z } from 'zod';

type RawIssue = z.core.$ZodRawIssue;
type Issue<Code extends RawIssue['code']> = Extract<RawIssue, { code: Code }>;

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'an id',
  guid: 'an id',
  email: 'an e-mail address',
  url: 'a URL',
  datetime: 'a time such as 2026-01-02T03:04:05Z',
  date: 'a date such as 2026-01-02',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  safeint: 'a whole number',
};

/** Unit of a size check by kind of value; for a number zod compares the value. */
const COUNTED: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
  set: ['item', 'items'],
  map: ['entry', 'entries'],
};

/** Sets the message of every issue without one from its schema, in this process. */
export function wordIssues(): void {
  z.config({ localeError: issueWords });
}

export function issueWords(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return boundWords(issue, issue.minimum, ['at least', 'more than']);
    case 'too_big':
      return boundWords(issue, issue.maximum, ['at most', 'less than']);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return formatWords(issue);
    case 'invalid_key':
      return `has a name that ${issue.issues.map(({ message }) => message).join(' and ')}`;
    case 'unrecognized_keys':
      return `has fields that are not known here: ${issue.keys.join(', ')}`;
    default:
      return 'is not valid here';
  }
}

function boundWords(
  issue: Issue<'too_small' | 'too_big'>,
  bound: number | bigint,
  [inclusive, exclusive]: readonly [string, string],
): string {
  const counted = COUNTED[issue.origin];
  const isExact = issue.exact === true;
  const comparison = isExact ? 'exactly' : issue.inclusive === false ? exclusive : inclusive;
  if (counted === undefined) return `must be ${comparison} ${bound}`;
  if (issue.code === 'too_small' && Number(bound) === 1 && !isExact) return 'must not be empty';
  return `must have ${comparison} ${bound} ${counted[Number(bound) === 1 ? 0 : 1]}`;
}

function formatWords(issue: Issue<'invalid_format'>): string {
  const known = FORMATS[issue.format];
  if (known !== undefined) return `must be ${known}`;
  return issue.pattern === undefined ? 'is not valid here' : `must match ${issue.pattern}`;
}
