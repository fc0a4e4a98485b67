/** A what-if as the address of its page, so that it can be shared: its form's fields are the address's parameters. */
import { GIB } from '@holdfast/core/model/bytes.js';
import { DRAIN_POLICIES, type DrainPolicy } from '@holdfast/core/model/node-drain.js';
import type { WhatIf } from '../api/client';

export const REBUILD_LIMIT = 'concurrent-replica-rebuild-per-node-limit';

/** Fields before any question. */
const DEFAULTS: Readonly<Record<string, string>> = {
  count: '1',
  sizeGib: '10',
  replicas: '3',
  diskGib: '100',
  diskCount: '1',
  diskType: 'filesystem',
  newNodes: '0',
  newNodeName: 'new-node',
  newNodeDisks: '1',
  newNodeGib: '100',
  policy: 'block-for-eviction',
  limit: '',
};

/** Policy of a drain that names none: the cluster's own, or the one in the question's settings. */
export const POLICY_AS_SET = 'as-set';

/** A field of a further group of new nodes or added disks, such as `newNodeZone.2`. Those of the first have no number. */
const GROUP_FIELD = /^(newNode\w*|disk(?:Node|Gib|Count|Type)|newDiskTags)\.([2-9]|[1-9]\d+)$/;

/** Fields that most questions do without. */
const FURTHER_FIELDS: readonly string[] = [
  'nodeTags',
  'diskTags',
  'diskCount',
  'diskType',
  'newDiskTags',
  'newNodes',
  'newNodeName',
  'newNodeZone',
  'newNodeDisks',
  'newNodeGib',
  'newNodeTags',
  'settings',
];

/** The policy of one drained node. */
export const policyField = (node: string) => `policy.${node}`;

/** A field of one group: `newNodes` alone is from an address when there was one group. */
export const groupField = (field: string, group: number) => (group === 1 ? field : `${field}.${group}`);

/** Numbers of the groups of new nodes. The first is always there: it is left out by asking for 0 nodes. */
export function groupsOf(asked: URLSearchParams): number[] {
  return [1, ...furtherGroups(asked, 'newNodes')];
}

/** Numbers of the further groups of added disks: those of the first go to nodes that are chosen from a list. */
export function diskGroupsOf(asked: URLSearchParams): number[] {
  return furtherGroups(asked, 'diskNode');
}

/** @param teller the field that each further group has */
function furtherGroups(asked: URLSearchParams, teller: string): number[] {
  const groups = new Set<number>();
  for (const name of asked.keys()) {
    const [, field, group] = GROUP_FIELD.exec(name) ?? [];
    if (field === teller) groups.add(Number(group));
  }
  return [...groups].sort((a, b) => a - b);
}

/** The groups that the question names, in its order: a problem points at one by its place among them. */
export function groupsAsked(asked: URLSearchParams): number[] {
  return groupsOf(asked).filter((group) => Number(fieldValue(asked, groupField('newNodes', group))) !== 0);
}

/** Whether the part of the form that most questions do without has something of the address, and is to be open. */
export function hasFurther(asked: URLSearchParams): boolean {
  const groups = groupsOf(asked).length + diskGroupsOf(asked).length;
  return FURTHER_FIELDS.some((field) => asked.has(field)) || groups > 1;
}

/** Value of a field that holds one. */
export function fieldValue(asked: URLSearchParams, field: string): string {
  const otherwise = field === 'count' && asked.size > 0 ? '0' : defaultOf(field);
  return asked.get(field) ?? otherwise ?? '';
}

function defaultOf(name: string): string | undefined {
  const [, field, group] = GROUP_FIELD.exec(name) ?? [];
  if (field === undefined) return DEFAULTS[name];
  if (field === 'newNodes') return '1';
  // No name that the nodes of another group get: those of the first are `new-node`, `new-node-2` and so on.
  return field === 'newNodeName' ? `new-group-${group}` : DEFAULTS[field];
}

/** The address's parameters of a form: fields that were left empty are left out, and of the further ones those left as they were. */
export function parametersOf(form: FormData): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of form) {
    const [, field] = GROUP_FIELD.exec(name) ?? [];
    // How many nodes a further group has is what says that there is such a group.
    const mayBeLeftOut = field !== 'newNodes' && FURTHER_FIELDS.includes(field ?? name);
    const isAsBefore = mayBeLeftOut && value === defaultOf(name);
    if (typeof value === 'string' && value !== '' && !isAsBefore) parameters.append(name, value);
  }
  return parameters;
}

/** `undefined`: no question. Sizes are in GiB, rounded to whole MiB, which are always a multiple of the block size. */
export function questionOf(asked: URLSearchParams): WhatIf | undefined {
  if (asked.size === 0) return undefined;
  const bytesOf = (field: string) => Math.round(Number(fieldValue(asked, field)) * 1024) * (GIB / 1024);
  const numberOf = (field: string) => Number(fieldValue(asked, field));
  const count = Number(asked.get('count') ?? 0);
  const shape = {
    count,
    size: bytesOf('sizeGib'),
    numberOfReplicas: numberOf('replicas'),
    ...some('nodeSelector', wordsOf(asked.get('nodeTags'))),
    ...some('diskSelector', wordsOf(asked.get('diskTags'))),
  };
  return {
    volumes: count === 0 ? [] : [shape],
    lose: { zones: asked.getAll('zone'), nodes: asked.getAll('node'), disks: asked.getAll('disk') },
    add: {
      nodes: newNodesOf(asked, numberOf, bytesOf),
      disks: newDisksOf(asked, numberOf, bytesOf),
    },
    drain: asked.getAll('drain').map((node) => ({ node, ...policyOf(node, asked) })),
    settings: settingsOf(asked),
    howManyMore: asked.has('howManyMore'),
  };
}

type NewNode = NonNullable<NonNullable<WhatIf['add']>['nodes']>[number];
type NumberOf = (field: string) => number;

function newNodesOf(asked: URLSearchParams, numberOf: NumberOf, bytesOf: NumberOf): NewNode[] {
  return groupsAsked(asked).map((group) => {
    const field = (name: string) => groupField(name, group);
    const zone = asked.get(field('newNodeZone'));
    const size = bytesOf(field('newNodeGib'));
    const disks = Math.min(numberOf(field('newNodeDisks')), DISKS_MAX);
    return {
      name: fieldValue(asked, field('newNodeName')),
      count: numberOf(field('newNodes')),
      ...(zone === null ? {} : { zone }),
      ...some('tags', wordsOf(asked.get(field('newNodeTags')))),
      disks: Array.from({ length: disks }, () => ({ size })),
    };
  });
}

type NewDisk = NonNullable<NonNullable<WhatIf['add']>['disks']>[number];

/** Those of the first group are for nodes that were chosen, those of a further one for nodes that are named. */
function newDisksOf(asked: URLSearchParams, numberOf: NumberOf, bytesOf: NumberOf): NewDisk[] {
  const disksFor = (nodes: readonly string[], group: number): NewDisk[] => {
    const field = (name: string) => groupField(name, group);
    const disk = {
      size: bytesOf(field('diskGib')),
      count: numberOf(field('diskCount')),
      type: fieldValue(asked, field('diskType')) === 'block' ? ('block' as const) : ('filesystem' as const),
      ...some('tags', wordsOf(asked.get(field('newDiskTags')))),
    };
    return nodes.map((node) => ({ node, ...disk }));
  };
  return [
    ...disksFor(asked.getAll('diskNode'), 1),
    ...diskGroupsOf(asked).flatMap((group) =>
      disksFor(wordsOf(asked.get(groupField('diskNode', group))), group),
    ),
  ];
}

/** More disks of a node than the API accepts, so that it reports the error; an address could name a number that fills the memory. */
const DISKS_MAX = 1_000;

/** `name=value`, one after the other; other texts are sent too, so that the API reports the error. */
function settingsOf(asked: URLSearchParams): NonNullable<WhatIf['settings']> {
  const limit = asked.get('limit');
  const settings: Record<string, string | number | boolean> =
    limit === null ? {} : { [REBUILD_LIMIT]: Number(limit) };
  for (const pair of wordsOf(asked.get('settings'))) {
    const [name = '', ...value] = pair.split('=');
    settings[name] = settingValue(value.join('='));
  }
  return settings;
}

function settingValue(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Words between spaces and commas. */
function wordsOf(text: string | null): string[] {
  return (text ?? '').split(/[\s,]+/).filter((word) => word !== '');
}

function some<Name extends string>(name: Name, words: string[]): { [Key in Name]?: string[] } {
  // The cast: TypeScript takes a computed name for any string.
  return words.length === 0 ? {} : ({ [name]: words } as { [Key in Name]?: string[] });
}

/** The node's own policy, else that of all. A typed address may name any; an unknown one is replaced by the first. */
function policyOf(node: string, asked: URLSearchParams): { policy?: DrainPolicy } {
  const text = asked.get(policyField(node)) ?? fieldValue(asked, 'policy');
  if (text === POLICY_AS_SET) return {};
  return { policy: DRAIN_POLICIES.find((policy) => policy === text) ?? DRAIN_POLICIES[0] };
}
