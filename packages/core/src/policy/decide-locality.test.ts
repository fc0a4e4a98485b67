import { describe, expect, test } from '@jest/globals';
import type { DataLocality } from '../model/volume.js';
import type { VolumeState } from '../model/volume-lifecycle.js';
import { decideLocality } from './decide-locality.js';

describe('decideLocality', () => {
  test.each<{ from: DataLocality; to: DataLocality; state: VolumeState; want: string }>([
    { from: 'disabled', to: 'strict-local', state: 'detached', want: 'allow' },
    { from: 'disabled', to: 'strict-local', state: 'attached', want: 'volume.attached' },
    { from: 'disabled', to: 'strict-local', state: 'attaching', want: 'volume.attached' },
    { from: 'strict-local', to: 'best-effort', state: 'detached', want: 'allow' },
    { from: 'strict-local', to: 'best-effort', state: 'attached', want: 'volume.attached' },
    { from: 'strict-local', to: 'strict-local', state: 'attached', want: 'allow' },
    { from: 'disabled', to: 'best-effort', state: 'attached', want: 'allow' },
  ])('$from to $to while $state: $want', ({ from, to, state, want }) => {
    const decision = decideLocality({ name: 'pg-data', state }, from, to);
    expect(decision.kind === 'refuse' ? decision.code : decision.kind).toBe(want);
  });
});
