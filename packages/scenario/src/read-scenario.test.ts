/** Problems of scenario files: each is reported with its line, and all of them before anything is run. */
import { describe, expect, test } from '@jest/globals';
import { FILE_BYTES_MAX, readScenario } from './read-scenario.js';

const problemsOf = (text: string) => {
  const read = readScenario(text);
  return read.kind === 'wrong' ? read.problems.map(({ line, message }) => `${line}: ${message}`) : [];
};
const withSteps = (...steps: string[]) =>
  [
    'scenario: s',
    'volumes: [{ name: v, attached: n1 }]',
    'steps:',
    ...steps.map((step) => `  - ${step}`),
  ].join('\n');

describe('a scenario file that is wrong', () => {
  test.each([
    {
      name: 'an unknown step',
      steps: ['write: v', 'nodeDwn: n3'],
      want: ['5: unknown step nodeDwn; did you mean nodeDown?'],
    },
    {
      name: 'two steps in one entry',
      steps: ['{ nodeDown: n3, nodeUp: n3 }'],
      want: ['4: the entry says both nodeDown and nodeUp: write two'],
    },
    { name: 'an entry without what', steps: ['at: 3s'], want: ['4: the entry says when, and not what'] },
    {
      name: 'times that run backwards',
      steps: ['{ at: 60s, nodeDown: n3 }', '{ at: 30s, nodeUp: n3 }'],
      want: ['5: time runs backwards: at 30 s comes after 60 s'],
    },
    {
      name: 'a time before what lasts until later',
      steps: ['{ for: 1m, expect: { volume: v, state: attached } }', '{ at: 30s, nodeUp: n3 }'],
      want: ['5: time runs backwards: at 30 s comes after 60 s'],
    },
    {
      name: 'an expectation about a volume that is nowhere made',
      steps: ['expect: { volume: w, state: attached }'],
      want: ['4: there is no volume w in this scenario'],
    },
    {
      name: 'an expectation about nodes and disks that are not given',
      steps: ['expect: { volume: v, perDisk: { n1/disk-9: 1 }, healthyOn: [n1, n9] }'],
      want: ['4: there is no node n9 in this scenario', '4: there is no disk n1/disk-9 in this scenario'],
    },
    {
      name: 'a step about an unknown node',
      steps: ['cordon: n7'],
      want: ['4: there is no node n7 in this scenario'],
    },
    {
      name: 'a step that uses a volume before it is made',
      steps: ['write: w', 'createVolume: { name: w }'],
      want: ['4: there is no volume w in this scenario'],
    },
    {
      name: 'an event type that there is not',
      steps: ['expect: { event: VolumeExploded }'],
      want: ['4: there is no event type VolumeExploded'],
    },
    {
      name: 'an unknown setting',
      steps: ['set: { no-such-setting: 1 }'],
      want: ['4: there is no setting named no-such-setting'],
    },
    {
      name: 'a value that a setting can not have',
      steps: ['set: { default-replica-count: 99 }'],
      want: ['4: default-replica-count must be a whole number from 1 to 20'],
    },
    {
      name: 'an unknown field of an expectation',
      steps: ['expect:\n      - { volume: v, colour: red }'],
      want: ['5: colour is not known here'],
    },
    {
      name: 'an expectation about nothing',
      steps: ['expect: { state: attached }'],
      want: ['4: an expectation is about one of rebuilds, event, volume, node, disk'],
    },
    {
      name: 'a duration without a unit that is known',
      steps: ['{ after: 3 weeks, write: v }'],
      want: ['4: after: write a duration as 30s, 10m, 1h or 2d'],
    },
    {
      name: 'within and for at once',
      steps: ['{ within: 3s, for: 3s, expect: { volume: v } }'],
      want: ['4: an expectation holds within a time or for a time, not both'],
    },
  ])('$name', ({ steps, want }) => {
    expect(problemsOf(withSteps(...steps))).toEqual(want);
  });

  test.each([
    { name: 'a file that is no YAML', text: 'scenario: [1', want: /^1: .*/ },
    { name: 'a file that is no scenario', text: '- 1', want: /^1: the file is no scenario: write its name/ },
    {
      name: 'an unknown key at the top',
      text: `${withSteps('write: v')}\nvolumen: []`,
      want: /^5: volumen is not known/,
    },
    { name: 'a file without any steps', text: 'scenario: s\nsteps: []', want: /^2: steps: / },
  ])('$name', ({ text, want }) => {
    expect(problemsOf(text)[0]).toMatch(want);
  });

  test('one that is too large is refused before it is parsed', () => {
    const text = `scenario: ${'x'.repeat(10 * FILE_BYTES_MAX)}`;
    expect(problemsOf(text)).toEqual([`1: the file is larger than ${FILE_BYTES_MAX} bytes`]);
  });

  test('all problems are told at once, in the order of their lines', () => {
    expect(problemsOf(withSteps('nodeDown: n9', 'cordon: n8'))).toHaveLength(2);
  });
});

test('what is left out is the base cluster, and quantities have units', () => {
  const read = readScenario(withSteps('{ at: 2m, expand: { volume: v, size: 2Gi } }'));
  if (read.kind === 'wrong') throw new Error(JSON.stringify(read.problems));
  expect(read.scenario.cluster.nodes.map(({ name }) => name)).toEqual(['n1', 'n2', 'n3']);
  expect(read.scenario.entries).toEqual([
    {
      kind: 'step',
      line: 4,
      when: { at: 120 },
      call: { name: 'expand', ask: { volume: 'v', size: 2 * 1024 ** 3 } },
    },
  ]);
});
