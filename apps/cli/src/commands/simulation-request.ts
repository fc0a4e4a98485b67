import { CliError, EXIT } from '../exit-codes.js';
import { type Choices, parseChoice } from '../output/choices.js';
import { parseCount, parseSize } from '../output/quantities.js';
import type { SimulationRequest } from '../types.js';
import { literal } from './setting-value.js';

export type SimulateOptions = {
  count?: string;
  size?: string;
  replicas?: string;
  nodeSelector?: string[];
  diskSelector?: string[];
  loseNode?: string[];
  loseZone?: string[];
  loseDisk?: string[];
  addNode?: string[];
  addDisk?: string[];
  drain?: string[];
  set?: string[];
  howManyMore?: boolean;
};

type Added = NonNullable<SimulationRequest['add']>;
type AddedNode = NonNullable<Added['nodes']>[number];
type AddedDisk = NonNullable<Added['disks']>[number];

const DISK_TYPES: Choices<NonNullable<AddedDisk['type']>> = { filesystem: true, block: true };

/** Body of a what-if from the flags, which cover the simple ones; the others are written in a file. */
export function simulateBody(options: SimulateOptions): SimulationRequest {
  return {
    ...volumesOf(options),
    lose: {
      nodes: options.loseNode ?? [],
      zones: options.loseZone ?? [],
      disks: options.loseDisk ?? [],
    },
    add: {
      nodes: (options.addNode ?? []).map(parseAddedNode),
      disks: (options.addDisk ?? []).map(parseAddedDisk),
    },
    drain: (options.drain ?? []).map(parseDrain),
    settings: Object.fromEntries((options.set ?? []).map(parseSetting)),
    howManyMore: options.howManyMore === true,
  };
}

function volumesOf(options: SimulateOptions): Pick<SimulationRequest, 'volumes'> {
  if (options.size === undefined) {
    if (options.count === undefined && options.replicas === undefined) return {};
    throw new CliError(EXIT.usage, 'volumes without a size can not be placed', [
      'add --size, such as --size 10Gi',
    ]);
  }
  const { nodeSelector, diskSelector } = options;
  const shape = {
    count: parseCount(options.count ?? '1'),
    size: parseSize(options.size),
    ...(options.replicas === undefined ? {} : { numberOfReplicas: parseCount(options.replicas) }),
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(diskSelector === undefined ? {} : { diskSelector }),
  };
  return { volumes: [shape] };
}

/** Parses `name,zone=z,disks=2x1Ti,count=3,tags=a+b`: a node, and `count` alike. */
function parseAddedNode(text: string): AddedNode {
  const wrong = (problem: string) => wrongFlag('--add-node', text, problem, NODE_FORM);
  const { name, fields } = parseFields(text, ['zone', 'disks', 'count', 'tags'], wrong);
  const { zone, count, tags } = fields;
  return {
    name,
    disks: parseDisks(fields.disks ?? '', wrong),
    ...(zone === undefined ? {} : { zone }),
    ...(count === undefined ? {} : { count: parseCount(count) }),
    ...(tags === undefined ? {} : { tags: tags.split('+') }),
  };
}

/** Parses `node,size=1Ti,count=2,type=block,tags=a+b`: a disk for an existing node, and `count` alike. */
function parseAddedDisk(text: string): AddedDisk {
  const wrong = (problem: string) => wrongFlag('--add-disk', text, problem, DISK_FORM);
  const { name: node, fields } = parseFields(text, ['size', 'count', 'type', 'tags'], wrong);
  const { size, count, type, tags } = fields;
  if (size === undefined) throw wrong('it needs a size');
  return {
    node,
    size: parseSize(size),
    ...(count === undefined ? {} : { count: parseCount(count) }),
    ...(type === undefined ? {} : { type: parseChoice(type, DISK_TYPES) }),
    ...(tags === undefined ? {} : { tags: tags.split('+') }),
  };
}

/** Parses `node` or `node,policy=block-for-eviction`. */
function parseDrain(text: string): NonNullable<SimulationRequest['drain']>[number] {
  const form = `write node or node,policy=… with one of ${Object.keys(POLICIES).join(', ')}`;
  const { name: node, fields } = parseFields(text, ['policy'], (problem) =>
    wrongFlag('--drain', text, problem, form),
  );
  const { policy } = fields;
  return policy === undefined ? { node } : { node, policy: parseChoice(policy, POLICIES) };
}

const POLICIES: Choices<NonNullable<NonNullable<SimulationRequest['drain']>[number]['policy']>> = {
  'block-if-contains-last-replica': true,
  'allow-if-replica-is-stopped': true,
  'always-allow': true,
  'block-for-eviction': true,
  'block-for-eviction-if-contains-last-replica': true,
};

const NODE_FORM = 'write name,zone=zone-d,disks=2x1Ti with count=3 and tags=ssd+fast where they are wanted';
const DISK_FORM = 'write node,size=1Ti with count=2, type=block and tags=ssd+fast where they are wanted';

type WrongFlag = (problem: string) => CliError;

function wrongFlag(flag: string, text: string, problem: string, form: string): CliError {
  return new CliError(EXIT.usage, `${flag} ${text}: ${problem}`, [form]);
}

/** Parses `name,field=value,…`: a name, then optional fields. */
function parseFields<Field extends string>(text: string, known: readonly Field[], wrong: WrongFlag) {
  const [name = '', ...parts] = text.split(',');
  const fields: Partial<Record<Field, string>> = {};
  for (const part of parts) {
    const at = part.indexOf('=');
    if (at < 1) throw wrong(`${part} has no value`);
    const given = part.slice(0, at);
    const field = known.find((one) => one === given);
    if (field === undefined) throw wrong(`${given} is not known`);
    fields[field] = part.slice(at + 1);
  }
  return { name, fields };
}

function parseDisks(text: string, wrong: WrongFlag): { size: number }[] {
  const match = /^(?:(\d{1,3})x)?(.+)$/.exec(text);
  if (match?.[2] === undefined) throw wrong('it needs disks');
  const size = parseSize(match[2]);
  return Array.from({ length: parseCount(match[1] ?? '1') }, () => ({ size }));
}

function parseSetting(text: string): [string, string | number | boolean] {
  const at = text.indexOf('=');
  if (at < 1) throw new CliError(EXIT.usage, `${text} sets nothing`, ['write --set name=value']);
  return [text.slice(0, at), literal(text.slice(at + 1))];
}
