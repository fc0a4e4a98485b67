/** A what-if as the address of its page, so that it can be shared: its form's fields are the address's parameters. */
import { GIB } from '@holdfast/core/model/bytes.js';
import { DRAIN_POLICIES, type DrainPolicy } from '@holdfast/core/model/node-drain.js';
import type { WhatIf } from '../api/client';

export const REBUILD_LIMIT = 'concurrent-replica-rebuild-per-node-limit';

/** Fields as they are when nothing was asked yet. */
const DEFAULTS: Readonly<Record<string, string>> = {
  count: '1',
  sizeGib: '10',
  replicas: '3',
  diskGib: '100',
  diskCount: '1',
  diskType: 'filesystem',
  newNodes: '0',
  newNodeDisks: '1',
  newNodeGib: '100',
  policy: 'block-for-eviction',
  limit: '',
};

/** Fields that most questions do without; their part of the form is open where the address has one of them. */
export const FURTHER_FIELDS = [
  'nodeTags',
  'diskTags',
  'diskCount',
  'diskType',
  'newDiskTags',
  'newNodes',
  'newNodeZone',
  'newNodeDisks',
  'newNodeGib',
  'newNodeTags',
  'settings',
] as const;

/** Value of a field that holds one. */
export function fieldValue(asked: URLSearchParams, field: string): string {
  const otherwise = field === 'count' && asked.size > 0 ? '0' : DEFAULTS[field];
  return asked.get(field) ?? otherwise ?? '';
}

/** The address's parameters of a form: fields that were left empty are left out, and of the further ones those left as they were. */
export function parametersOf(form: FormData): URLSearchParams {
  const parameters = new URLSearchParams();
  const further: readonly string[] = FURTHER_FIELDS;
  for (const [name, value] of form) {
    const isAsBefore = further.includes(name) && value === DEFAULTS[name];
    if (typeof value === 'string' && value !== '' && !isAsBefore) parameters.append(name, value);
  }
  return parameters;
}

/** `undefined`: nothing was asked. Sizes are in GiB, rounded to whole MiB, which are always a multiple of the block size. */
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
  const disk = {
    size: bytesOf('diskGib'),
    count: numberOf('diskCount'),
    type: fieldValue(asked, 'diskType') === 'block' ? ('block' as const) : ('filesystem' as const),
    ...some('tags', wordsOf(asked.get('newDiskTags'))),
  };
  const policy = policyOf(fieldValue(asked, 'policy'));
  return {
    volumes: count === 0 ? [] : [shape],
    lose: { zones: asked.getAll('zone'), nodes: asked.getAll('node'), disks: asked.getAll('disk') },
    add: {
      nodes: newNodesOf(asked, numberOf, bytesOf),
      disks: asked.getAll('diskNode').map((node) => ({ node, ...disk })),
    },
    drain: asked.getAll('drain').map((node) => ({ node, policy })),
    settings: settingsOf(asked),
    howManyMore: asked.has('howManyMore'),
  };
}

type NewNode = NonNullable<NonNullable<WhatIf['add']>['nodes']>[number];
type NumberOf = (field: string) => number;

function newNodesOf(asked: URLSearchParams, numberOf: NumberOf, bytesOf: NumberOf): NewNode[] {
  const count = numberOf('newNodes');
  if (count === 0) return [];
  const zone = asked.get('newNodeZone');
  const size = bytesOf('newNodeGib');
  return [
    {
      name: 'new-node',
      count,
      ...(zone === null ? {} : { zone }),
      ...some('tags', wordsOf(asked.get('newNodeTags'))),
      disks: Array.from({ length: Math.min(numberOf('newNodeDisks'), DISKS_MAX) }, () => ({ size })),
    },
  ];
}

/** More disks of a node than the API takes, so that it says what is wrong; an address could name a number that fills the memory. */
const DISKS_MAX = 1_000;

/** `name=value`, one after the other; what is no such pair is sent too, so that the API says what is wrong with it. */
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

/** An address that was typed may name any; the first stands for what there is not. */
function policyOf(text: string): DrainPolicy {
  return DRAIN_POLICIES.find((policy) => policy === text) ?? DRAIN_POLICIES[0];
}
