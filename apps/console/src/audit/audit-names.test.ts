import { describe, expect, test } from '@jest/globals';
import { actorWords, keyOf, type NamedEntry, targetWords } from './audit-names';

const ID = '01a222ce-8201-7ebc-a55e-9fa4d0fcf250';
const USER = '01a222cd-b708-7146-9e18-735a886471ea';
const NAMES = new Map([
  [keyOf({ kind: 'volume', id: ID }), 'pg-data'],
  [keyOf({ kind: 'user', id: USER }), 'Ada'],
]);
const entry = (part: Partial<NamedEntry> = {}): NamedEntry => ({
  actor: { kind: 'user/session', id: USER },
  target: { kind: 'volume', id: ID },
  before: null,
  after: null,
  ...part,
});

describe('an entry of the audit log', () => {
  test.each<{ name: string; part: Partial<NamedEntry>; known?: boolean; want: string }>([
    { name: 'is about a thing by its name', part: {}, want: 'volume pg-data' },
    { name: 'says how it was called then', part: { before: { name: 'old' } as never }, want: 'volume old' },
    { name: 'has the beginning of an id that has no name', part: {}, known: false, want: 'volume 01a222ce' },
    {
      name: 'has a name in place of an id whole',
      part: { target: { kind: 'setting', id: 'replica-soft-anti-affinity' } },
      want: 'setting replica-soft-anti-affinity',
    },
  ])('$name', ({ part, known = true, want }) => {
    expect(targetWords(entry(part), known ? NAMES : new Map())).toBe(want);
  });

  test.each([
    ['user/session', USER, 'Ada in a browser or the CLI'],
    ['user/api', USER, 'Ada by a token'],
    ['user/api', ID, 'user 01a222ce by a token'],
    ['system', '', 'system'],
  ])('is of %s %s: %s', (kind, id, want) => {
    expect(actorWords(entry({ actor: { kind, id } }), NAMES)).toBe(want);
  });
});
