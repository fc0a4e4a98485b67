import { describe, expect, test } from '@jest/globals';
import {
  answerNews,
  answersText,
  answerTimes,
  answerTimesText,
  type DiskAnswers,
  type DiskPace,
  HUNG_MS,
  judgePace,
  OUTLIER_MS,
  SLOW_MS,
} from './disk-answers.js';

const quick: DiskAnswers = { oldestMs: 0, tookMs: [3, 5, 900] };
const busy: DiskAnswers = { oldestMs: 4_000, tookMs: [3, 5, 9_000] };
const recovering: DiskAnswers = { oldestMs: 0, tookMs: [3, 5, 9_000] };
const unasked: DiskAnswers = { oldestMs: 0, tookMs: [] };

test.each<{ name: string; oldestMs: number; peers: DiskAnswers[]; pace: DiskPace }>([
  { name: 'owes nothing', oldestMs: 0, peers: [], pace: 'well' },
  { name: 'owes an answer for a moment', oldestMs: SLOW_MS, peers: [quick], pace: 'well' },
  { name: 'is slow beside quick ones', oldestMs: OUTLIER_MS, peers: [quick, quick], pace: 'slow' },
  {
    name: 'is silent for long beside quick ones',
    oldestMs: OUTLIER_MS + 1,
    peers: [quick, quick],
    pace: 'hung',
  },
  {
    name: 'is silent beside one that is busy too',
    oldestMs: OUTLIER_MS + 1,
    peers: [quick, busy],
    pace: 'slow',
  },
  {
    name: 'is silent beside one that was busy just now',
    oldestMs: OUTLIER_MS + 1,
    peers: [recovering],
    pace: 'slow',
  },
  {
    name: 'is silent beside one that was not asked',
    oldestMs: OUTLIER_MS + 1,
    peers: [unasked],
    pace: 'slow',
  },
  { name: 'is alone and silent', oldestMs: HUNG_MS, peers: [], pace: 'slow' },
  { name: 'is silent longer than any load lasts', oldestMs: HUNG_MS + 1, peers: [busy], pace: 'hung' },
])('a disk that $name is $pace', ({ oldestMs, peers, pace }) => {
  expect(judgePace({ oldestMs, tookMs: [] }, peers)).toBe(pace);
});

test('age and distribution are told in words', () => {
  expect(answersText({ oldestMs: 61_234, tookMs: [900, 5, 9_000] })).toBe(
    'a call has been waiting for it for 61.2 s; of the last 3 that ended half took at most 900 ms, the slowest 9.0 s',
  );
  expect(answersText({ oldestMs: 3_000, tookMs: [] })).toBe('a call has been waiting for it for 3.0 s');
});

describe('times of a disk for users', () => {
  const took = Array.from({ length: 200 }, (_, index) => index + 0.5);

  test('are a distribution in whole milliseconds, and the age of a call that is owed', () => {
    expect(answerTimes({ oldestMs: 12_000.2, tookMs: took })).toEqual({
      calls: 200,
      p50Ms: 100,
      p99Ms: 198,
      maxMs: 200,
      oldestMs: 12_001,
    });
    expect(answerTimes({ oldestMs: SLOW_MS, tookMs: [] })).toEqual({
      ...{ calls: 0, p50Ms: 0, p99Ms: 0, maxMs: 0, oldestMs: 0 },
    });
  });

  const news = (part: Partial<Parameters<typeof answerNews>[0]>) =>
    answerNews({ calls: 9, p50Ms: 1, p99Ms: 3, maxMs: 90, oldestMs: 0, ...part });
  test.each([
    { name: 'other times at once', part: { p50Ms: 2, p99Ms: 80, maxMs: 100, calls: 8 }, isNews: false },
    { name: 'a call above', part: { maxMs: 101 }, isNews: true },
    { name: 'a call that is owed', part: { oldestMs: 2_001 }, isNews: true },
  ])('$name: news is $isNews', ({ part, isNews }) => {
    expect(JSON.stringify(news(part)) !== JSON.stringify(news({}))).toBe(isNews);
  });

  test('a call that is owed for longer, and one a little slower, are none', () => {
    expect(news({ oldestMs: 9_000 })).toEqual(news({ oldestMs: 3_000 }));
    expect(news({ maxMs: 390 })).toEqual(news({ maxMs: 120 }));
  });

  test('are told in words', () => {
    const times = { calls: 9, p50Ms: 1, p99Ms: 3, maxMs: 2_500, oldestMs: 3_000 };
    expect(answerTimesText(times)).toBe(
      'half within 1 ms, 99 of 100 within 3 ms, the slowest 2.5 s; a call has been waiting for 3.0 s',
    );
    expect(answerTimesText({ ...times, calls: 0, oldestMs: 0 })).toBeUndefined();
  });
});
