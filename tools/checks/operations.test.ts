/** Check of what docs/OPERATIONS.md says in names and numbers: variables, ports, defaults and alerts are those that there are. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { ALERT_RULE_NAMES } from '../../packages/core/src/alerts/alert-rules.js';
import { SETTINGS, type SettingDefinition } from '../../packages/core/src/model/setting.js';
import { repositoryRoot } from './run-tool.js';
import { sourceFiles } from './source-files.js';

const read = (file: string) => fs.readFileSync(path.join(repositoryRoot, file), 'utf8');
const page = read('docs/OPERATIONS.md');
const composeText = read('docker-compose.yml');
const sources = sourceFiles(['apps', 'packages/tracing', 'packages/data-engine'])
  .filter(({ at }) => !at.endsWith('.test.ts') && !at.includes('/test/'))
  .map(({ text }) => text);
const definitions = new Map<string, SettingDefinition>(Object.entries(SETTINGS));

/** The text below a heading, up to the next one. */
function chapter(title: string): string {
  return page.split(/^#{2,} /m).find((part) => part.startsWith(`${title}\n`)) ?? '';
}

/** Cells of all rows whose first cell is one name in back ticks, which goes without them. */
function rowsIn(text: string): string[][] {
  return [...text.matchAll(/^\| (`[A-Za-z_-]+` \|.*) \|$/gm)].map(([, row = '']) =>
    row.split(' | ').map((cell) => cell.replace(/^`(.*)`( \|)?$/, '$1')),
  );
}

/** The default that a process's schema gives a variable; `undefined`: none. */
function defaultOf(variable: string): string | undefined {
  const patterns = [`\\b${variable}: z[^;]*?\\.default\\('?([^)']*)'?\\)`, `\\.${variable} \\?\\? ([0-9]+)`];
  const found = patterns.flatMap((pattern) =>
    sources.flatMap((text) => new RegExp(pattern).exec(text)?.[1] ?? []),
  );
  return found[0]?.replaceAll('_', '');
}

test('every variable that it names is read by a process, or by the compose file', () => {
  const known = new Set(
    [...sources, composeText].flatMap((text) => text.match(/\b(?:HOLDFAST|DATABASE|REDIS)_[A-Z_]+\b/g) ?? []),
  );
  const named = new Set(page.match(/\b(?:HOLDFAST|DATABASE|REDIS)_[A-Z_]*[A-Z]\b/g) ?? []);
  expect(named.size).toBeGreaterThan(20);
  expect([...named].filter((name) => !known.has(name))).toEqual([]);
});

describe('ports', () => {
  const ports = [...chapter('Ports').matchAll(/\| (\d+)( in the compose file)? \(`(\w+)`/g)].map(
    ([, port, isOfCompose, variable = '']) => ({ port, isOfCompose: isOfCompose !== undefined, variable }),
  );

  test('of all processes are named', () => {
    const variables = ['API', 'CONSOLE', 'WORKER', 'CONTROL', 'NBD'].map((name) => `HOLDFAST_${name}_PORT`);
    expect(ports.map(({ variable }) => variable)).toEqual(variables);
  });

  test.each(ports)('$variable is $port', ({ port, isOfCompose, variable }) => {
    const ofCompose = new RegExp(`^ +${variable}: "(\\d+)"$`, 'm').exec(composeText)?.[1];
    expect(ofCompose).toBe(port);
    expect(defaultOf(variable)).toBe(isOfCompose ? undefined : port);
  });
});

describe('tuning', () => {
  const rows = rowsIn(chapter('Tuning'));
  const isVariable = ([name = '']: string[]) => /^[A-Z_]+$/.test(name);

  test('has settings and variables', () => {
    expect(rows.filter(isVariable).length).toBeGreaterThan(2);
    expect(rows.length).toBeGreaterThan(15);
  });

  test.each(rows)('the default of %s is what it is', (name = '', second = '', third = '') => {
    if (isVariable([name])) expect(third).toBe(defaultOf(name));
    else expect(second).toBe(String(definitions.get(name)?.default));
  });
});

describe('alerts', () => {
  const told = rowsIn(chapter('What an alert means')).map(([name]) => name);
  type Group = { rules: { alert?: string }[] };
  const groups: Group[] = parse(read('infra/prometheus/holdfast.rules.yml')).groups;
  const ofPrometheus = groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? []));

  test('each rule has a row that says what to do, and each row a rule', () => {
    expect(told).toEqual([...ALERT_RULE_NAMES, ...ofPrometheus]);
  });
});
