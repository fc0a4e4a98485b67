/** Rules of alerts that can not say what they are named for, each with what is to be written instead. */
import { expect, test } from '@jest/globals';
import { lintAlerts } from '../src/alerts/lint-alerts.js';

function lint(expression: string, version = 'v1.11.0', holdsFor = '5m'): string[] {
  const rule = { alert: 'A', expression, holdsFor, at: { file: 'rules.yaml', line: 1 } };
  const { neverFires, others } = lintAlerts([rule], version);
  return [...neverFires, ...others]
    .filter(({ code }) => code !== 'alert.missing')
    .map(({ code, message }) => `${code}: ${message}`);
}

test.each([
  ['longhorn_volume_robustness == 3', 'longhorn_volume_robustness{state="faulted"} == 1'],
  ['longhorn_volume_robustness{pvc="x"} == 2', 'longhorn_volume_robustness{pvc="x", state="degraded"} == 1'],
  ['longhorn_volume_robustness != 1', 'longhorn_volume_robustness{state=~"unknown|degraded|faulted"} == 1'],
  [
    'longhorn_volume_robustness >= 2 and on(node) up == 1',
    'longhorn_volume_robustness{state=~"degraded|faulted"} == 1 and on(node) up == 1',
  ],
  ['(longhorn_volume_state == 3)', '(longhorn_volume_state{state="detached"} == 1)'],
])('%s is dead from 1.11 on, and its cure is said', (expression, cure) => {
  const [found] = lint(expression);
  expect(found).toMatch(/^alert\.never-fires: /);
  expect(found?.endsWith(`Write: ${cure}`)).toBe(true);
  // The cure is no fault itself.
  expect(lint(cure)).toEqual([]);
  // Before 1.11 it is the other way round.
  expect(lint(expression, 'v1.10.2')).toEqual([]);
  expect(lint(cure, 'v1.10.2')).toHaveLength(1);
});

test.each([
  ['longhorn_volume_robustness == 1', 'is true for every volume'],
  ['longhorn_volume_robustness == 3', 'can never be true'],
])('%s on a new release says that it %s', (expression, effect) => {
  expect(lint(expression)[0]).toContain(effect);
});

test.each([
  ['longhorn_disk_health == 0', 'v1.9.0', 'alert.metric-unknown'],
  [
    '(longhorn_volume_actual_size_bytes / longhorn_volume_capacity_bytes) > 0.9',
    'v1.11.0',
    'alert.actual-size',
  ],
  ['longhorn_node_status{condition="ready"} == 0', 'v1.11.0', 'alert.node-only'],
  ['avg(longhorn_node_count_total) - count(longhorn_node_status == 1) > 0', 'v1.11.0', 'alert.node-count'],
  ['longhorn_node_status{condition="ready" == 0', 'v1.11.0', 'alert.unreadable'],
])('%s on %s is %s', (expression, version, code) => {
  expect(lint(expression, version).map((one) => one.split(':')[0])).toContain(code);
});

test('a rule that fires at the first sample is told, and rules of other products are left alone', () => {
  expect(lint('longhorn_disk_usage_bytes > 1', 'v1.11.0', '')).toHaveLength(1);
  expect(lint('up == 0', 'v1.11.0', '')).toEqual([]);
});

test('what no rule watches is told where there are rules', () => {
  const rule = {
    alert: 'A',
    expression: 'longhorn_disk_usage_bytes > 1',
    holdsFor: '5m',
    at: { file: 'r', line: 1 },
  };
  expect(lintAlerts([rule], 'v1.11.0').others.map(({ code }) => code)).toEqual([
    'alert.missing',
    'alert.missing',
  ]);
  expect(lintAlerts([], 'v1.11.0').others).toEqual([]);
});
