import { describe, expect, test } from '@jest/globals';
import { isFault } from './faults.js';
import { changedLabels, LABEL_KEY, LABEL_VALUE, LABELS_MAX } from './labels.js';

describe('the syntax of a key', () => {
  test.each([
    ['team', true],
    ['Team_1.a-b', true],
    ['app.kubernetes.io/name', true],
    [`${'a'.repeat(253)}/name`, true],
    ['a'.repeat(63), true],
    ['a'.repeat(64), false],
    [`${'a'.repeat(254)}/name`, false],
    ['-team', false],
    ['team-', false],
    ['Example.com/name', false],
    ['a/b/c', false],
    ['/name', false],
    ['example.com/', false],
    ['', false],
    ['te am', false],
    ['__proto__', false],
  ])('%s is one: %s', (key, isOne) => {
    expect(LABEL_KEY.test(key)).toBe(isOne);
  });
});

describe('the syntax of a value', () => {
  test.each([
    ['', true],
    ['a', true],
    ['v1.2_3-x', true],
    ['a'.repeat(63), true],
    ['a'.repeat(64), false],
    ['.a', false],
    ['a b', false],
  ])('%j is one: %s', (value, isOne) => {
    expect(LABEL_VALUE.test(value)).toBe(isOne);
  });
});

describe('a change of labels', () => {
  test('sets and takes off what it names, and leaves the others, in the order of their keys', () => {
    const after = changedLabels(
      { team: 'a', tier: 'gold' },
      { team: 'b', tier: null, app: 'db', none: null },
    );
    expect(JSON.stringify(after)).toBe('{"app":"db","team":"b"}');
  });

  test('that takes off the last one leaves none', () => {
    expect(changedLabels({ team: 'a' }, { team: null })).toBeUndefined();
    expect(changedLabels(undefined, {})).toBeUndefined();
  });

  test('is refused with every label that is wrong', () => {
    const wrong = () => changedLabels({}, { 'a/b/c': 'x', team: 'no spaces here', fine: 'x' });
    expect(pointersOf(wrong)).toEqual(['/labels/a~1b~1c', '/labels/team']);
  });

  test('to more labels than there may be is refused', () => {
    const many = Object.fromEntries(Array.from({ length: LABELS_MAX }, (_, n) => [`k${n}`, 'v']));
    expect(Object.keys(changedLabels({}, many) ?? {})).toHaveLength(LABELS_MAX);
    expect(pointersOf(() => changedLabels(many, { more: 'v' }))).toEqual(['/labels']);
    expect(() => changedLabels(many, { more: 'v', k0: null })).not.toThrow();
  });
});

function pointersOf(work: () => unknown): (string | undefined)[] {
  try {
    work();
  } catch (error) {
    if (isFault(error)) return (error.details.errors ?? []).map(({ pointer }) => pointer);
  }
  return [];
}
