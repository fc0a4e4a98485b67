import { GIB, MIB, TIB } from '@holdfast/core/model/bytes.js';
import { describe, expect, test } from '@jest/globals';
import { CliError, EXIT } from '../exit-codes.js';
import { age, parseCount, parseDurationMs, parseSize } from './quantities.js';

describe('parseSize', () => {
  test.each([
    { text: '4096', bytes: 4096 },
    { text: '10Gi', bytes: 10 * GIB },
    { text: '10GiB', bytes: 10 * GIB },
    { text: '10g', bytes: 10 * GIB },
    { text: '1.5Ti', bytes: 1.5 * TIB },
    { text: '64 Mi', bytes: 64 * MIB },
    { text: '-1', bytes: -1 },
  ])('$text is $bytes', ({ text, bytes }) => {
    expect(parseSize(text)).toBe(bytes);
  });

  test.each(['', 'ten', '10Xi', '1e9', 'Gi'])('%p is a usage error', (text) => {
    expect(() => parseSize(text)).toThrow(CliError);
    expect(() => parseSize(text)).toThrow(expect.objectContaining({ exitCode: EXIT.usage }));
  });
});

test.each([
  { text: '500ms', ms: 500 },
  { text: '30s', ms: 30_000 },
  { text: '5m', ms: 300_000 },
  { text: '1.5h', ms: 5_400_000 },
])('parseDurationMs: $text is $ms', ({ text, ms }) => {
  expect(parseDurationMs(text)).toBe(ms);
});

test.each(['5', 'soon', '5 minutes'])('parseDurationMs: %p is a usage error', (text) => {
  expect(() => parseDurationMs(text)).toThrow(CliError);
});

test('parseCount takes whole numbers only', () => {
  expect(parseCount('3')).toBe(3);
  expect(() => parseCount('3.5')).toThrow(CliError);
});

test.each([
  { seconds: 0, want: '0s' },
  { seconds: 119, want: '119s' },
  { seconds: 120, want: '2m' },
  { seconds: 7200, want: '2h' },
  { seconds: 172_800, want: '2d' },
])('age: $seconds s is $want', ({ seconds, want }) => {
  const now = new Date('2026-01-02T00:00:00Z');
  expect(age(new Date(now.getTime() - seconds * 1000).toISOString(), now)).toBe(want);
});
