import { describe, expect, test } from '@jest/globals';
import { shownVolume } from './shown-volume.js';
import type { Volume } from './types.js';

const copy = (nodeId: string, part: object = {}) => ({
  nodeId,
  mode: 'RW',
  state: 'running',
  healthyAt: '2026-01-01T00:00:00Z',
  ...part,
});
/** The cast: the display depends on nothing else of a volume. */
const aVolume = (part: object = {}) =>
  ({
    state: 'attached',
    robustness: 'healthy',
    attachedNodeId: 'b',
    numberOfReplicas: 2,
    endpoint: { nbdUri: 'nbd://b/v' },
    replicas: [copy('a'), copy('b')],
    ...part,
  }) as Volume;

describe('a volume for scripts', () => {
  test("is the API's own object while all nodes answer", () => {
    const volume = aVolume();
    expect(shownVolume(volume, new Set())).toBe(volume);
  });

  test('has no address and no modes, and is of unknown health, while the node that serves it is silent', () => {
    expect(shownVolume(aVolume(), new Set(['b']))).toMatchObject({
      robustness: 'unknown',
      endpoint: { nbdUri: null },
      replicas: [{ mode: null }, { mode: null }],
    });
  });

  test('keeps its address, and the mode of each copy but that of a silent node', () => {
    expect(shownVolume(aVolume(), new Set(['a']))).toMatchObject({
      robustness: 'healthy',
      endpoint: { nbdUri: 'nbd://b/v' },
      replicas: [{ mode: null }, { mode: 'RW' }],
    });
  });

  test('keeps what its engine says of a failed copy', () => {
    const replicas = [copy('a', { mode: 'ERR', state: 'failed' }), copy('b')];
    expect(shownVolume(aVolume({ replicas }), new Set(['a'])).replicas[0]?.mode).toBe('ERR');
  });

  test('at rest is degraded by a copy on a silent node', () => {
    const replicas = [
      copy('a', { mode: null, state: 'stopped' }),
      copy('b', { mode: null, state: 'stopped' }),
    ];
    const rest = aVolume({ state: 'detached', attachedNodeId: null, endpoint: null, replicas });
    expect(shownVolume(rest, new Set(['a'])).robustness).toBe('degraded');
  });
});
