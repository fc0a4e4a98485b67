/** Rules and dashboard: they ask for metrics that some process has, and Prometheus' own tool takes the rules and runs their tests. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { repositoryRoot } from './run-tool.js';

const PROMETHEUS = path.join(repositoryRoot, 'infra/prometheus');
const RULES = 'holdfast.rules.yml';
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
/** Debian has it in the package `prometheus`; `.ci/run` installs it. */
const testWithPromtool = hasPromtool ? test : test.skip;
/** Metrics of a Node process as prom-client names them, which every process of ours has with our prefix. */
const OF_NODE = /^holdfast_(process|nodejs)_[a-z_]+$/;

type Rule = { record?: string; alert?: string; expr: string; annotations?: Record<string, string> };

const read = (file: string) => fs.readFileSync(path.join(repositoryRoot, file), 'utf8');
const rules: Rule[] = parse(read(`infra/prometheus/${RULES}`)).groups.flatMap(
  (group: { rules: Rule[] }) => group.rules,
);
const alerts = rules.flatMap(({ alert }) => alert ?? []);

/** Every name that a process registers its metrics under, as written in the sources. */
const registered = new Set(
  ['api/src/app', 'worker/src', 'agent/src'].flatMap((room) =>
    fs
      .readdirSync(path.join(repositoryRoot, `apps/${room}/metrics`))
      .filter((name) => !name.endsWith('.test.ts'))
      .flatMap((name) => read(`apps/${room}/metrics/${name}`).match(/\bholdfast_[a-z0-9_]+[a-z0-9]/g) ?? []),
  ),
);
const recorded = new Set(rules.flatMap(({ record }) => record ?? []));

/** Metrics that an expression asks for and no process or rule has. */
function unknownIn(expression: string): string[] {
  const names = expression.match(/(?:\b[a-z_]+:)?\bholdfast_[a-z0-9_]+(?::[a-z0-9_]+)?/g) ?? [];
  return names.filter((name) => {
    const plain = name.replace(/_(bucket|count|sum)$/, '');
    return !recorded.has(name) && !registered.has(name) && !registered.has(plain) && !OF_NODE.test(name);
  });
}

describe('metrics that are asked for exist', () => {
  test('an unknown one is found', () => {
    expect(unknownIn('rate(holdfast_no_such_total[5m]) / a:holdfast_none:max')).toEqual([
      'holdfast_no_such_total',
      'a:holdfast_none:max',
    ]);
    expect(registered.size).toBeGreaterThan(25);
  });

  test('in the rules', () => {
    expect(rules.flatMap(({ expr }) => unknownIn(expr))).toEqual([]);
  });

  test('on the dashboard, where each panel has a title and a place of its own', () => {
    const dashboard = JSON.parse(read('infra/grafana/holdfast.json'));
    const expressions: string[] = dashboard.panels.flatMap((panel: { targets: { expr: string }[] }) =>
      panel.targets.map(({ expr }) => expr),
    );
    expect(expressions.length).toBeGreaterThan(15);
    expect(expressions.flatMap(unknownIn)).toEqual([]);
    const places = dashboard.panels.map((panel: { gridPos: object }) => JSON.stringify(panel.gridPos));
    expect(new Set(places).size).toBe(places.length);
    expect(dashboard.panels.filter(({ title }: { title: string }) => title === '')).toEqual([]);
  });
});

describe('alerts', () => {
  test('say what is so, and what to do', () => {
    const silent = rules.filter(
      ({ alert, annotations }) =>
        alert !== undefined && (annotations?.summary === undefined || annotations.action === undefined),
    );
    expect(silent).toEqual([]);
    expect(new Set(alerts).size).toBe(alerts.length);
  });

  test('each has a test in which it fires', () => {
    type Case = { alert_rule_test?: { alertname: string; exp_alerts: unknown[] }[] };
    const cases: Case[] = parse(read('infra/prometheus/holdfast.rules.test.yml')).tests;
    const fired = new Set(
      cases.flatMap(({ alert_rule_test = [] }) =>
        alert_rule_test.filter(({ exp_alerts }) => exp_alerts.length > 0).map(({ alertname }) => alertname),
      ),
    );
    expect(alerts.filter((alert) => !fired.has(alert))).toEqual([]);
  });

  testWithPromtool(
    `pass their tests in Prometheus' own tool${hasPromtool ? '' : ' (skipped: promtool is not installed, Debian has it in prometheus)'}`,
    () => {
      const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'holdfast.rules.test.yml'], {
        cwd: PROMETHEUS,
        encoding: 'utf8',
      });
      expect(`${stdout}${stderr}`).toContain('SUCCESS');
      expect(status).toBe(0);
    },
  );
});
