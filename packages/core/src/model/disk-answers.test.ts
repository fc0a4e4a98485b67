import { expect, test } from '@jest/globals';
import {
  answersText,
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
