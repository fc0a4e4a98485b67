import { describe, expect, test } from '@jest/globals';
import { planLayers } from './plan-layers.js';

describe('planLayers', () => {
  test('a layer that the target lacks is copied in full, oldest first as given', () => {
    const plans = planLayers([
      { id: 'b', name: 'snap-1', onTarget: 'absent' },
      { id: 'a', name: 'rebuild-2', onTarget: 'absent' },
    ]);
    expect(plans).toEqual([
      { id: 'b', name: 'snap-1', method: 'full', reason: 'the target does not have this layer' },
      { id: 'a', name: 'rebuild-2', method: 'full', reason: 'the target does not have this layer' },
    ]);
  });
});
