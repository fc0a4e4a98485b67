import { describe, expect, test } from '@jest/globals';
import { keyAction, type Pressed } from './key-action';

/** The kind of a key's action, or its target. */
function doneBy(key: string, part: Partial<Pressed> = {}): string | undefined {
  const action = keyAction({
    key,
    hasCommand: false,
    isTyping: false,
    isInDialog: false,
    isAwaitingPlace: false,
    isSingleOff: false,
    ...part,
  });
  return action?.kind === 'go' ? action.href : action?.kind;
}

describe('a key', () => {
  test.each<[string, Partial<Pressed>, string | undefined]>([
    ['k', { hasCommand: true }, 'menu'],
    ['K', { hasCommand: true, isTyping: true, isSingleOff: true }, 'menu'],
    ['j', { hasCommand: true }, undefined],
    ['/', {}, 'search'],
    ['/', { isTyping: true }, undefined],
    ['?', {}, 'help'],
    ['j', {}, 'next-row'],
    ['j', { isInDialog: true }, undefined],
    ['j', { isSingleOff: true }, undefined],
    ['k', {}, 'previous-row'],
    ['x', {}, 'select-row'],
    ['g', {}, 'await-place'],
    ['v', { isAwaitingPlace: true }, '/volumes'],
    ['j', { isAwaitingPlace: true }, undefined],
    ['v', {}, undefined],
  ])('%j with %j does %j', (key, part, want) => {
    expect(doneBy(key, part)).toBe(want);
  });
});
