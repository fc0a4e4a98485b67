import { NOON, secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { aNode } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import { isNodeReady } from '../model/node.js';
import { effectiveSettings } from '../settings/effective.js';
import { nodeReadyCondition, nodeSchedulableCondition, shownNodeConditions } from './node-conditions.js';
import { AGENT_GONE } from './node-liveness.js';

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
  expect(nodeReadyCondition('heard', 'n')).toMatchObject({ status: 'True', message: '' });
  expect(nodeReadyCondition('silent', 'n')).toMatchObject({ status: 'False', reason: 'AgentSilent' });
  expect(nodeReadyCondition('silent', 'n').message).toContain('agent on n');
  expect(nodeReadyCondition('gone', 'n')).toMatchObject({ status: 'False', reason: AGENT_GONE });
  expect(nodeReadyCondition('gone', 'n').message).toContain('agent on n');
});

test('a node without a condition is not ready: no heartbeat has been recorded', () => {
  expect(isNodeReady(aNode('n'))).toBe(true);
  expect(isNodeReady(aNode('n', { ready: false }))).toBe(false);
  expect(isNodeReady({ conditions: [] })).toBe(false);
});

test('a node whose agent is unanswering says so while it is ready, and is as ready as before', () => {
  const unansweredAt = secondsAfterNoon(3);
  const node = aNode('n', { ready: true, lastHeartbeatAt: NOON });
  const shown = shownNodeConditions(node, unansweredAt);
  expect(shown[0]).toMatchObject({
    type: 'Answering',
    status: 'False',
    message: 'the agent on n has missed a heartbeat, and does not answer',
    lastTransitionAt: unansweredAt,
  });
  expect(isNodeReady({ conditions: shown })).toBe(true);
  expect(shownNodeConditions(node, undefined)).toEqual(node.conditions);
  const heard = { ...node, lastHeartbeatAt: secondsAfterNoon(4) };
  expect(shownNodeConditions(heard, unansweredAt)).toEqual(node.conditions);
  const lost = aNode('n', { ready: false, lastHeartbeatAt: NOON });
  expect(shownNodeConditions(lost, unansweredAt)).toEqual(lost.conditions);
});
