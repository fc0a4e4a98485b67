import { expect, test } from '@jest/globals';
import { effectiveSettings } from '../settings/effective.js';
import { rebuildsStoppedBy } from './rebuild-limits.js';

const TARGET = 'concurrent-replica-rebuild-per-node-limit';
const SOURCE = 'concurrent-rebuild-source-per-node-limit';
const CLUSTER = 'concurrent-rebuild-per-cluster-limit';

test.each([
  { settings: {}, reason: undefined, cures: undefined },
  { settings: { [TARGET]: 1, [SOURCE]: 1, [CLUSTER]: 1 }, reason: undefined, cures: undefined },
  { settings: { [TARGET]: 'unlimited' }, reason: undefined, cures: undefined },
  { settings: { [TARGET]: 0 }, reason: 'TargetNodeLimit', cures: [`set ${TARGET} to 1 or more`] },
  { settings: { [SOURCE]: 0 }, reason: 'SourceNodeLimit', cures: [`set ${SOURCE} to 1 or more`] },
  { settings: { [CLUSTER]: 0 }, reason: 'ClusterLimit', cures: [`set ${CLUSTER} to 1 or more`] },
  {
    settings: { [SOURCE]: 0, [CLUSTER]: 0 },
    reason: 'ClusterLimit',
    cures: [`set ${CLUSTER} to 1 or more`, `set ${SOURCE} to 1 or more`],
  },
])('rebuilds under $settings are stopped by $reason', ({ settings, reason, cures }) => {
  const stop = rebuildsStoppedBy(effectiveSettings(settings));
  expect([stop?.reason, stop?.cures]).toEqual([reason, cures]);
});
