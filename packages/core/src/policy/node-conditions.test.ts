import { aNode } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import { isNodeReady } from '../model/node.js';
import { effectiveSettings } from '../settings/effective.js';
import { nodeReadyCondition, nodeSchedulableCondition } from './node-conditions.js';

describe('nodeSchedulableCondition: cordoned, and the setting minds it', () => {
  test.each([
    { cordoned: false, minds: true, want: 'True' },
    { cordoned: false, minds: false, want: 'True' },
    { cordoned: true, minds: false, want: 'True' },
    { cordoned: true, minds: true, want: 'KubernetesNodeCordoned' },
  ])('cordoned $cordoned, minded $minds → $want', ({ cordoned, minds, want }) => {
    const settings = effectiveSettings({ 'disable-scheduling-on-cordoned-node': minds });
    const { status, reason } = nodeSchedulableCondition({ cordoned, maintenance: undefined }, settings);
    expect(status === 'True' ? status : reason).toBe(want);
  });
});

test('a node in maintenance says until when and why; a cordon, which has no end, comes first', () => {
  const maintenance = { until: new Date('2026-01-01T13:00:00Z'), reason: 'new disks' };
  const settings = effectiveSettings({});
  expect(nodeSchedulableCondition({ cordoned: false, maintenance }, settings)).toMatchObject({
    status: 'False',
    reason: 'NodeMaintenance',
    message: 'the node is in maintenance until 2026-01-01 13:00:00 UTC: new disks',
  });
  expect(nodeSchedulableCondition({ cordoned: true, maintenance }, settings).reason).toBe(
    'KubernetesNodeCordoned',
  );
});

test('a node is ready while its agent is heard, and its condition names it when it is not', () => {
  expect(nodeReadyCondition(true, 'n')).toMatchObject({ status: 'True', message: '' });
  expect(nodeReadyCondition(false, 'n')).toMatchObject({ status: 'False', reason: 'AgentSilent' });
  expect(nodeReadyCondition(false, 'n').message).toContain('agent on n');
});

test('a node without a condition is not ready: no heartbeat has been recorded', () => {
  expect(isNodeReady(aNode('n'))).toBe(true);
  expect(isNodeReady(aNode('n', { ready: false }))).toBe(false);
  expect(isNodeReady({ conditions: [] })).toBe(false);
});
