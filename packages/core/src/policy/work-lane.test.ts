import { expect, test } from '@jest/globals';
import type { Volume } from '../model/volume.js';
import type { VolumeLifecycle } from '../model/volume-lifecycle.js';
import { type Lane, laneOf } from './work-lane.js';

const at = new Date(0);
const grant = { nodeId: '' as never, bootId: undefined, secret: '' };
const request = { nodeId: undefined, requestedAt: at };
const STATES: Record<string, VolumeLifecycle> = {
  creating: { state: 'creating', request: undefined },
  detached: { state: 'detached' },
  attaching: { state: 'attaching', request, grant: undefined },
  attached: { state: 'attached', request, grant, endpoint: { host: '', port: 1, exportName: '' } },
  detaching: { state: 'detaching', grant, isForced: false, request: undefined },
  deleting: { state: 'deleting', requestedAt: at, grant: undefined },
};

test.each<{ state: string; robustness: Volume['robustness']; lane: Lane }>([
  { state: 'creating', robustness: 'unknown', lane: 'bulk' },
  { state: 'creating', robustness: 'degraded', lane: 'bulk' },
  { state: 'detached', robustness: 'healthy', lane: 'request' },
  { state: 'detached', robustness: 'degraded', lane: 'safety' },
  { state: 'detached', robustness: 'faulted', lane: 'safety' },
  { state: 'attaching', robustness: 'degraded', lane: 'request' },
  { state: 'attached', robustness: 'healthy', lane: 'safety' },
  { state: 'attached', robustness: 'degraded', lane: 'safety' },
  { state: 'detaching', robustness: 'degraded', lane: 'request' },
  { state: 'deleting', robustness: 'faulted', lane: 'request' },
])('a volume that is $state and $robustness waits in the lane $lane', ({ state, robustness, lane }) => {
  const lifecycle = STATES[state];
  if (lifecycle === undefined) throw new Error(`no state ${state}`);
  expect(laneOf({ lifecycle, robustness })).toBe(lane);
});
