import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { issueWords } from './issue-words.js';

const wordsOf = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value, { error: issueWords }).error?.issues.map(({ message }) => message);

describe('what a field must be', () => {
  test.each<[string, z.ZodType, unknown, string]>([
    ['left out', z.string(), undefined, 'is required'],
    ['of another type', z.string(), 5, 'must be text'],
    ['no whole number', z.int(), 1.5, 'must be a whole number'],
    ['no choice', z.boolean(), 'yes', 'must be true or false'],
    ['no list', z.array(z.string()), 'a', 'must be a list'],
    ['none of the values', z.enum(['v1', 'v2']), 'v3', 'must be one of v1, v2'],
    ['not the value', z.literal('v1'), 'v3', 'must be v1'],
    ['too small', z.number().min(4096), 1, 'must be at least 4096'],
    ['not above zero', z.number().positive(), 0, 'must be more than 0'],
    ['too large', z.number().max(20), 99, 'must be at most 20'],
    ['no multiple', z.number().multipleOf(4096), 5000, 'must be a multiple of 4096'],
    ['empty', z.string().min(1), '', 'must not be empty'],
    ['too short', z.string().min(12), 'a', 'must have at least 12 characters'],
    ['too long', z.string().max(1), 'ab', 'must have at most 1 character'],
    ['too many', z.array(z.string()).max(2), ['a', 'b', 'c'], 'must have at most 2 items'],
    ['not so many', z.string().length(4), 'ab', 'must have exactly 4 characters'],
    ['no id', z.uuid(), 'x', 'must be an id'],
    ['no time', z.iso.datetime(), 'x', 'must be a time such as 2026-01-02T03:04:05Z'],
    ['of another pattern', z.string().regex(/^a$/), 'b', 'must match /^a$/'],
    ['worded by its schema', z.string().regex(/^a$/, 'must be the letter a'), 'b', 'must be the letter a'],
    [
      'a wrong key',
      z.record(z.string().regex(/^a$/, 'must be a'), z.string()),
      { b: '' },
      'has a name that must be a',
    ],
    ['no form that is known', z.union([z.string(), z.number()]), true, 'is not valid here'],
  ])('that is %s', (_, schema, value, want) => {
    expect(wordsOf(schema, value)).toEqual([want]);
  });
});
