import { expect, test } from '@jest/globals';
import type { ClusterRisk } from '../types.js';
import { riskText } from './risk.js';

const NONE = { notServed: 0, faulted: 0, unknown: 0, degraded: 0 };
const NOW = new Date('2026-01-01T00:05:00Z');
const SAFE: ClusterRisk = {
  volumes: { ...NONE, total: 2, healthy: 2, creating: 0 },
  verdict: 'safe',
  waits: { user: 0, paused: 0, running: 0, queued: 0, other: 0 },
  causes: [],
};

test('a safe cluster is one line', () => {
  expect(riskText(SAFE, NOW)).toBe('safe: every volume has all its copies (2 of 2 volumes healthy)');
});

test('each cause is a line with its effects, its time and some of its volumes', () => {
  const causes: ClusterRisk['causes'] = [
    {
      kind: 'node',
      subjectId: null,
      name: 'node-2',
      since: '2026-01-01T00:00:00Z',
      effects: { ...NONE, notServed: 1, degraded: 2 },
      examples: [{ id: 'x', name: 'pg-data', robustness: 'unknown' }],
    },
    {
      kind: 'copies',
      subjectId: null,
      name: null,
      since: null,
      effects: { ...NONE, faulted: 1 },
      examples: [],
    },
  ];
  expect(
    riskText({ ...SAFE, verdict: 'stuck', causes }, NOW)
      .split('\n')
      .slice(1),
  ).toEqual([
    '  node-2 does not answer for 5m: 1 not served, 2 degraded, such as pg-data',
    '  missing copies: 1 faulted',
  ]);
});
