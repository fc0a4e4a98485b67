import { CliError, EXIT } from '../exit-codes.js';
import { parseCount, parseSize } from '../output/quantities.js';
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
  set?: string[];
  howManyMore?: boolean;
};

type AddedNode = { name: string; zone?: string; tags?: string[]; count?: number; disks: { size: number }[] };

/** What the flags can say of the body that the API takes. */
type SimulateBody = {
  volumes?: object[];
  lose: { nodes: string[]; zones: string[]; disks: string[] };
  add: { nodes: AddedNode[] };
  settings: Record<string, string | number | boolean>;
  howManyMore: boolean;
};

/** The simple what-ifs as flags; everything else goes into a file. */
export function simulateBody(options: SimulateOptions): SimulateBody {
  return {
    ...volumesOf(options),
    lose: {
      nodes: options.loseNode ?? [],
      zones: options.loseZone ?? [],
      disks: options.loseDisk ?? [],
    },
    add: { nodes: (options.addNode ?? []).map(parseAddedNode) },
    settings: Object.fromEntries((options.set ?? []).map(parseSetting)),
    howManyMore: options.howManyMore === true,
  };
}

function volumesOf(options: SimulateOptions): Pick<SimulateBody, 'volumes'> {
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

/** `name,zone=z,disks=2x1Ti,count=3,tags=a+b`: a node, and `count` alike. */
function parseAddedNode(text: string): AddedNode {
  const [name = '', ...parts] = text.split(',');
  const fields = new Map(parts.map((part) => splitOnce(part, text)));
  const known = new Set(['zone', 'disks', 'count', 'tags']);
  const unknown = [...fields.keys()].find((field) => !known.has(field));
  if (unknown !== undefined) throw wrongNode(text, `${unknown} is not known`);
  const zone = fields.get('zone');
  const count = fields.get('count');
  const tags = fields.get('tags');
  return {
    name,
    disks: parseDisks(fields.get('disks') ?? '', text),
    ...(zone === undefined ? {} : { zone }),
    ...(count === undefined ? {} : { count: parseCount(count) }),
    ...(tags === undefined ? {} : { tags: tags.split('+') }),
  };
}

function parseDisks(text: string, node: string): { size: number }[] {
  const match = /^(?:(\d{1,3})x)?(.+)$/.exec(text);
  if (match?.[2] === undefined) throw wrongNode(node, 'it needs disks');
  const size = parseSize(match[2]);
  return Array.from({ length: parseCount(match[1] ?? '1') }, () => ({ size }));
}

function parseSetting(text: string): [string, string | number | boolean] {
  const at = text.indexOf('=');
  if (at < 1) throw new CliError(EXIT.usage, `${text} sets nothing`, ['write --set name=value']);
  return [text.slice(0, at), literal(text.slice(at + 1))];
}

function splitOnce(part: string, node: string): [string, string] {
  const at = part.indexOf('=');
  if (at < 1) throw wrongNode(node, `${part} has no value`);
  return [part.slice(0, at), part.slice(at + 1)];
}

function wrongNode(text: string, problem: string): CliError {
  return new CliError(EXIT.usage, `--add-node ${text}: ${problem}`, [
    'write name,zone=zone-d,disks=2x1Ti with count=3 and tags=ssd+fast where they are wanted',
  ]);
}
