import { describe, expect, test } from '@jest/globals';
import { copyChoices, isChoiceOpen } from './copy-choices';

const NOON = '2026-01-01T12:00:00.000Z';
type Compared = Parameters<typeof copyChoices>[0];

const copy = (id: string, failedAt: string | null = null) => ({
  id,
  nodeId: `on-${id}`,
  healthyAt: NOON,
  failedAt,
});
const sum = (replicaId: string, checksum: string | null) => ({
  replicaId,
  checksum,
  writtenBytes: checksum === null ? null : 1,
  error: null,
});
const tie = (...replicas: ReturnType<typeof sum>[]): Compared['verification'] => ({
  verdict: 'tie',
  replicas,
});
const choices = (volume: Pick<Compared, 'verification' | 'replicas'>) =>
  copyChoices({ ...volume, conditions: [] }).map(
    ({ replicaIds, checksum }) => `${replicaIds.join('+')}=${checksum}`,
  );

describe('the choice between copies that differ', () => {
  test('has copies that hold the same together, the most first', () => {
    const replicas = [copy('a'), copy('b'), copy('c'), copy('d')];
    const verification = tie(sum('a', 'x'), sum('b', 'y'), sum('c', 'y'), sum('d', null));
    expect(choices({ verification, replicas })).toEqual(['b+c=y', 'a=x']);
  });

  test('leaves out copies that have failed since', () => {
    const verification = tie(sum('a', 'x'), sum('b', 'y'));
    expect(choices({ verification, replicas: [copy('a'), copy('b', NOON)] })).toEqual(['a=x']);
  });

  test('has each copy alone where only a snapshot of them was compared', () => {
    expect(choices({ verification: null, replicas: [copy('a'), copy('b')] })).toEqual(['a=null', 'b=null']);
  });

  test('is open while the volume says so', () => {
    expect(isChoiceOpen({ conditions: [{ type: 'CopiesDiffer', status: 'True' }] })).toBe(true);
    expect(isChoiceOpen({ conditions: [{ type: 'CopiesDiffer', status: 'False' }] })).toBe(false);
  });
});
