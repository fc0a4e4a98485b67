import { describe, expect, test } from '@jest/globals';
import { possibleLosses } from './forget-losses';

const NOON = '2026-01-01T12:00:00.000Z';
type Copy = Parameters<typeof possibleLosses>[1][number]['replicas'][number];

const full = (nodeId: string): Copy => ({
  nodeId,
  intent: 'keep',
  healthyAt: NOON,
  lastHealthyAt: NOON,
  failedAt: null,
});
const failed = (nodeId: string): Copy => ({ ...full(nodeId), failedAt: NOON });
const building = (nodeId: string): Copy => ({ ...full(nodeId), healthyAt: null, lastHealthyAt: null });

describe('forgetting a node', () => {
  test.each([
    { name: 'loses all of a volume without another copy', copies: [full('n1')], want: 'all' },
    { name: 'counts no copy that was never full', copies: [full('n1'), building('n2')], want: 'all' },
    { name: 'loses nothing of a volume whose others are most', copies: [full('n1'), full('n2'), full('n3')] },
    { name: 'loses nothing of one whose other is half', copies: [full('n1'), full('n2')] },
    {
      name: 'may lose the newest writes where too few others are current',
      copies: [full('n1'), failed('n2'), full('n3'), failed('n4')],
      want: 'newest',
    },
    {
      name: 'may lose the newest writes where no other is current',
      copies: [full('n1'), failed('n2')],
      want: 'newest',
    },
    { name: 'does not concern a volume that it holds nothing of', copies: [full('n2')] },
    { name: 'does not concern one of which it holds an unfilled copy', copies: [building('n1'), full('n2')] },
  ])('$name', ({ copies, want }) => {
    const volume = { id: 'v', name: 'pg', numberOfReplicas: copies.length, replicas: copies };
    expect(possibleLosses('n1', [volume]).map(({ kind }) => kind)).toEqual(want === undefined ? [] : [want]);
  });
});
