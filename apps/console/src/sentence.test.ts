import { expect, test } from '@jest/globals';
import { inLocalTime, sentence } from './sentence.js';

const clock = (time: string) => new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });

test('a message begins with a capital and ends with one full stop', () => {
  expect(sentence('the node is cordoned')).toBe('The node is cordoned.');
  expect(sentence('The node is cordoned.')).toBe('The node is cordoned.');
});

test('a time is told on the clock of the reader, and of another day with its date', () => {
  const message = 'no new one is built until 2026-11-26 11:05:05 UTC';
  const told = clock('2026-11-26T11:05:05Z');
  expect(inLocalTime(message, new Date('2026-11-26T11:00:00Z'))).toBe(`no new one is built until ${told}`);
  const later = inLocalTime(message, new Date('2026-12-03T11:00:00Z'));
  expect(later).toMatch(/until .*26.*, /);
  expect(later.endsWith(`, ${told}`)).toBe(true);
  expect(later).not.toContain('UTC');
});

test('all else stays as it is', () => {
  expect(inLocalTime('cron of 2026-11-26 in UTC', new Date())).toBe('cron of 2026-11-26 in UTC');
});
