import { describe, expect, test } from '@jest/globals';
import { MIB } from '../model/bytes.js';
import { asId, type NodeId } from '../model/ids.js';
import { effectiveSettings } from '../settings/effective.js';
import { estimateMoves, type Move } from './estimate-moves.js';

const node = (name: string) => asId<NodeId>(name);
const move = (source: string, target: string, mib = 1000): Move => ({
  bytes: mib * MIB,
  sourceNodeId: node(source),
  targetNodeId: node(target),
});
const LIMIT_ONE = effectiveSettings({ 'concurrent-replica-rebuild-per-node-limit': 1 });

describe('estimateMoves', () => {
  test('one move takes its start and its bytes, at speeds that are assumed where none were measured', () => {
    expect(estimateMoves([move('a', 'b')], [], effectiveSettings({}))).toEqual({
      p50Seconds: 15,
      p90Seconds: 70,
      basis: 'assumed',
    });
  });

  test('what its cluster measured counts, slow rebuilds for the long end', () => {
    const speeds = [1, 2, 4, 4, 4, 5, 8, 8, 9, 9, 9].map((factor) => ({
      bytes: 100 * MIB * factor,
      seconds: 10,
    }));
    expect(estimateMoves([move('a', 'b')], speeds, effectiveSettings({}))).toEqual({
      p50Seconds: 25,
      p90Seconds: 80,
      basis: 'measured',
    });
  });

  test('moves to one node wait for each other under its limit, those to others do not', () => {
    expect(estimateMoves([move('a', 'b'), move('a', 'b')], [], LIMIT_ONE).p50Seconds).toBe(30);
    expect(estimateMoves([move('a', 'b'), move('a', 'c')], [], LIMIT_ONE).p50Seconds).toBe(15);
  });

  test('the limits of sources and of the cluster hold moves up, too', () => {
    const bySource = effectiveSettings({ 'concurrent-rebuild-source-per-node-limit': 1 });
    const byCluster = effectiveSettings({ 'concurrent-rebuild-per-cluster-limit': 1 });
    expect(estimateMoves([move('a', 'b'), move('a', 'c')], [], bySource).p50Seconds).toBe(30);
    expect(estimateMoves([move('a', 'b'), move('d', 'c')], [], byCluster).p50Seconds).toBe(30);
  });

  test('the bandwidth of a target is shared', () => {
    const slow = effectiveSettings({ 'replica-rebuilding-bandwidth-limit': 10 });
    expect(estimateMoves([move('a', 'b')], [], slow).p50Seconds).toBe(105);
  });
});
