/** Answers of agents: no field of any of them carries what its reader could not store, show or paste. */

import { AGENT_ANSWERS } from '@holdfast/testkit/agent-answers.js';
import { describe, expect, test } from '@jest/globals';
import { ENGINE_COMMANDS } from './engine-commands.js';

const TEXTS = ['\u0000', 'a\u001b[2J', '\ud800', 'a\u202eb', 'a\nb', 'x'.repeat(100_000)];
const NUMBERS = [-1, 0.5, 2 ** 53, 2 ** 63, 1e308, Number.NaN];
/** Characters that no line, terminal or column accepts. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;
const CHARS_MAX = 4_096;

const CASES = Object.entries(AGENT_ANSWERS).flatMap(([name, [schema, answer]]) =>
  placesOf(answer).map((at) => ({ name, field: at.join('.'), schema, answer, at })),
);

describe("a field of an agent's answer", () => {
  test.each(CASES)('in $name, $field, is refused or made safe', ({ schema, answer, at }) => {
    expect(schema.safeParse(answer).success).toBe(true);
    const values = typeof valueAt(answer, at) === 'number' ? NUMBERS : TEXTS;
    const taken = values.flatMap((value) => {
      const parsed = schema.safeParse(replaced(answer, at, value));
      return parsed.success ? textsAndNumbers(parsed.data).filter((one) => !isSafe(one)) : [];
    });
    expect(taken).toEqual([]);
  });
});

test('a time that most programs can not read is none', () => {
  const [, answer] = AGENT_ANSWERS['the layers of a volume'] ?? [];
  for (const time of ['+275760-09-13T00:00:00Z', '-000001-01-01T00:00:00Z', 'yesterday']) {
    const parsed = ENGINE_COMMANDS.layers.reply.parse(replaced(answer, ['layers', '0', 'createdAt'], time));
    expect(String(parsed.layers[0]?.createdAt)).toBe('Invalid Date');
  }
});

function isSafe(value: string | number): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0;
  return value.length <= CHARS_MAX && !UNSAFE.test(value);
}

/** Ways to every text and number. */
function placesOf(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (typeof value === 'string' || typeof value === 'number') return [at];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...at, key]));
}

function valueAt(value: unknown, at: readonly string[]): unknown {
  return at.reduce<unknown>((inner, key) => new Map(Object.entries(Object(inner))).get(key), value);
}

function replaced(value: unknown, [first, ...rest]: readonly string[], put: unknown): unknown {
  if (first === undefined) return put;
  if (Array.isArray(value))
    return value.map((one, at) => (String(at) === first ? replaced(one, rest, put) : one));
  const fields = new Map(Object.entries(Object(value)));
  return { ...Object(value), [first]: replaced(fields.get(first), rest, put) };
}

function textsAndNumbers(value: unknown): (string | number)[] {
  if (typeof value === 'string' || typeof value === 'number') return [value];
  if (typeof value !== 'object' || value === null || value instanceof Date) return [];
  return Object.values(value).flatMap(textsAndNumbers);
}
