/** Names and times of a scenario: everything that it names is given or made before, and its times never run backwards. */
import { EVENT_TYPES } from '@holdfast/core/model/event-types.js';
import { isFault } from '@holdfast/core/model/faults.js';
import { parseSettingValue } from '@holdfast/core/settings/effective.js';
import type { Expectation } from './expectations.js';
import { diskNameAt, type NodeGiven } from './given.js';
import type { Check, Entry, Scenario, When } from './scenario.js';
import type { StepCall } from './steps.js';

type Problem = { readonly line: number; readonly message: string };
type Known = { readonly nodes: Set<string>; readonly disks: Set<string>; readonly volumes: Set<string> };
type Kind = 'node' | 'disk' | 'volume';
type Named = readonly [Kind, string];

export function referenceProblems(
  scenario: Scenario,
  lineOf: (path: readonly PropertyKey[]) => number,
): Problem[] {
  const known: Known = { nodes: new Set(), disks: new Set(), volumes: new Set() };
  for (const node of scenario.cluster.nodes) addNode(known, node);
  const problems: Problem[] = [];
  for (const [index, { name, attached, copiesOn = [] }] of scenario.volumes.entries()) {
    const nodes = [...copiesOn, ...(attached === undefined ? [] : [attached])];
    const line = lineOf(['volumes', index]);
    problems.push(
      ...unknownOf(
        known,
        nodes.map((node): Named => ['node', node]),
        line,
      ),
    );
    if (known.volumes.has(name)) problems.push({ line, message: `there are two volumes ${name}` });
    known.volumes.add(name);
  }
  problems.push(...settingProblems(scenario.settings, lineOf(['settings'])));
  const volumesOfAll = new Set([...known.volumes, ...scenario.entries.flatMap(madeVolume)]);
  for (const entry of scenario.entries) {
    problems.push(
      ...entryProblems(entry, entry.kind === 'step' ? known : { ...known, volumes: volumesOfAll }),
    );
    if (entry.kind === 'step') learn(known, entry.call);
  }
  return [...problems, ...timeProblems(scenario.entries)];
}

function addNode(known: Known, node: NodeGiven): void {
  known.nodes.add(node.name);
  for (const [index, disk] of node.disks.entries())
    known.disks.add(`${node.name}/${diskNameAt(disk, index)}`);
}

function madeVolume(entry: Entry): string[] {
  return entry.kind === 'step' ? newVolumes(entry.call) : [];
}

function newVolumes({ name, ask }: StepCall): string[] {
  return name === 'createVolume' || name === 'cloneVolume' ? [ask.name] : [];
}

function learn(known: Known, call: StepCall): void {
  if (call.name === 'addNode') addNode(known, call.ask);
  for (const volume of newVolumes(call)) known.volumes.add(volume);
  if (call.name === 'moveDisk')
    known.disks.add(`${call.ask.to}/${call.ask.disk.slice(call.ask.disk.indexOf('/') + 1)}`);
  if (call.name === 'cloneDisk') known.disks.add(`${call.ask.to}/${call.ask.as}`);
  if (call.name !== 'addDisk') return;
  const { node } = call.ask;
  const index = [...known.disks].filter((disk) => disk.startsWith(`${node}/`)).length;
  known.disks.add(`${node}/${diskNameAt(call.ask, index)}`);
}

function eventProblems({ line, expectation }: Check): Problem[] {
  if (!('event' in expectation) || Object.hasOwn(EVENT_TYPES, expectation.event)) return [];
  return [{ line, message: `there is no event type ${expectation.event}` }];
}

function entryProblems(entry: Entry, known: Known): Problem[] {
  if (entry.kind === 'step') {
    const ofSettings = entry.call.name === 'set' ? settingProblems(entry.call.ask, entry.line) : [];
    const isRefusalWanted = entry.refused !== undefined;
    return [...unknownOf(known, namesInStep(entry.call), entry.line), ...(isRefusalWanted ? [] : ofSettings)];
  }
  return entry.checks.flatMap((check) => [
    ...unknownOf(known, namesIn(check.expectation), check.line),
    ...eventProblems(check),
  ]);
}

/** Fields of a step that name things, whatever the step is. */
const FIELDS: Readonly<Record<string, Kind>> = {
  node: 'node',
  disk: 'disk',
  volume: 'volume',
};
/** Steps with one name only that is no node's. */
const SUBJECTS: Readonly<Partial<Record<StepCall['name'], Kind>>> = {
  diskDown: 'disk',
  removeDisk: 'disk',
  diskUp: 'disk',
  saveDisk: 'disk',
  setBackDisk: 'disk',
  acceptDisk: 'disk',
  deleteVolume: 'volume',
  write: 'volume',
  purge: 'volume',
  verify: 'volume',
  salvage: 'volume',
  cancelRebuild: 'volume',
  pauseRebuild: 'volume',
  resumeRebuild: 'volume',
};

function namesInStep({ name, ask }: StepCall): Named[] {
  if (typeof ask === 'string') return [[SUBJECTS[name] ?? 'node', ask]];
  if (typeof ask !== 'object' || name === 'set') return [];
  return Object.entries(ask).flatMap(([field, value]): Named[] => {
    if (typeof value !== 'string') return [];
    if (field === 'on' || field === 'to') return [[value.includes('/') ? 'disk' : 'node', value]];
    const kind = FIELDS[field];
    return kind === undefined ? [] : [[kind, value]];
  });
}

function namesIn(expectation: Expectation): Named[] {
  const nodes = (names: readonly string[] | undefined) => (names ?? []).map((one): Named => ['node', one]);
  if ('event' in expectation) return expectation.volume === undefined ? [] : [['volume', expectation.volume]];
  if ('node' in expectation) return [['node', expectation.node]];
  if ('disk' in expectation) return [['disk', expectation.disk]];
  if ('rebuilds' in expectation && !('volume' in expectation)) {
    const { perTargetNode = {}, perSourceNode = {} } = expectation.rebuilds;
    return nodes([...Object.keys(perTargetNode), ...Object.keys(perSourceNode)]);
  }
  if (!('volume' in expectation)) return [];
  const { volume, attachedTo, healthyOn, perNode = {}, perDisk = {}, nothingOn, sameReplicaOn } = expectation;
  const single = [attachedTo, sameReplicaOn].filter((one) => typeof one === 'string');
  return [
    ['volume', volume],
    ...nodes([...(healthyOn ?? []), ...Object.keys(perNode), ...(nothingOn ?? []), ...single]),
    ...Object.keys(perDisk).map((disk): Named => ['disk', disk]),
  ];
}

function unknownOf(known: Known, names: readonly Named[], line: number): Problem[] {
  const sets = { node: known.nodes, disk: known.disks, volume: known.volumes };
  return names
    .filter(([kind, named]) => !sets[kind].has(named))
    .map(([kind, named]) => ({ line, message: `there is no ${kind} ${named} in this scenario` }));
}

function settingProblems(settings: Readonly<Record<string, unknown>>, line: number): Problem[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    try {
      parseSettingValue(name, value);
      return [];
    } catch (error) {
      if (!isFault(error)) throw error;
      return [{ line, message: error.message }];
    }
  });
}

/** Times are compared with the earliest moment at which the entry before can have ended. */
function timeProblems(entries: readonly Entry[]): Problem[] {
  const problems: Problem[] = [];
  let earliest = 0;
  for (const entry of entries) {
    const { at, after = 0 } = entry.when satisfies When;
    if (at !== undefined && at < earliest) {
      const message = `time runs backwards: at ${at} s comes after ${earliest} s`;
      problems.push({ line: entry.line, message });
    }
    earliest = Math.max(earliest, at ?? 0) + after;
    if (entry.kind === 'expect') earliest += entry.for ?? 0;
  }
  return problems;
}
