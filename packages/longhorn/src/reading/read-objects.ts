/** Objects of Kubernetes from the text of a file, with mangling undone. Anything else is a problem with its file and line. */
import { CORE_SCHEMA, load, YAMLException } from 'js-yaml';
import { z } from 'zod';
import { ITEM_BYTES_MAX, NESTING_MAX } from './bounds.js';
import { isMangled, undoMangling } from './mangling.js';
import type { ReadProblem } from './problem.js';
import type { SourceFile } from './source-part.js';
import { type ItemText, splitItems } from './split-items.js';

export type KubernetesObject = {
  readonly kind: 'object';
  readonly group: string;
  readonly apiVersion: string;
  /** As the API calls it: `Volume`, `Node`. */
  readonly type: string;
  readonly name: string;
  readonly namespace: string;
  readonly json: Readonly<Record<string, unknown>>;
  readonly file: string;
  readonly line: number;
};

const record = z.record(z.string(), z.unknown());
const head = z.object({
  apiVersion: z.string().default(''),
  kind: z.string().default(''),
  metadata: z.object({ name: z.string(), namespace: z.string().nullish() }),
});

export function* readObjects({ file, text }: SourceFile): Generator<KubernetesObject | ReadProblem> {
  const splitting = splitItems(text);
  if (splitting.kind === 'wrong') {
    const { line, message } = splitting;
    return yield { kind: 'problem', code: 'format', file, line, message };
  }
  const mangled = isMangled(file, text);
  for (const item of splitting.items) {
    const parsed = parseItem(file, item);
    yield parsed.kind === 'problem' ? parsed : objectOf(parsed.value, mangled, file, item);
  }
}

type Parsed = { readonly kind: 'parsed'; readonly value: unknown } | ReadProblem;

function parseItem(file: string, { text, line }: ItemText): Parsed {
  const problem = (code: ReadProblem['code'], message: string, at = line): ReadProblem => ({
    kind: 'problem',
    code,
    file,
    line: at,
    message,
  });
  if (text.length > ITEM_BYTES_MAX)
    return problem('bound', `the object is larger than ${ITEM_BYTES_MAX} bytes`);
  try {
    return { kind: 'parsed', value: text.trimStart().startsWith('{') ? jsonOf(text) : yamlOf(text) };
  } catch (error) {
    if (error instanceof RangeError) return problem('bound', messageOf(error));
    if (!(error instanceof YAMLException))
      return problem('format', `this can't be read: ${messageOf(error)}`);
    const at = line + (error.mark?.line ?? 0);
    if (error.reason.startsWith(TOO_DEEP))
      return problem('bound', `the object is nested more than ${NESTING_MAX} deep`, at);
    return problem('format', `this is not YAML: ${firstLine(error.reason)}`, at);
  }
}

/** How the parser begins what it says of an object that is nested too deep. */
const TOO_DEEP = 'nesting exceeded';
/** What may be an anchor, which an alias needs; the text of a string may look like one too. */
const MAYBE_ANCHOR = /(?:^|[\s[{,:-])&[^\s,[\]{}]/m;

const PARSING = { schema: CORE_SCHEMA, maxDepth: NESTING_MAX };

function yamlOf(text: string): unknown {
  const value = load(text, PARSING);
  if (MAYBE_ANCHOR.test(text)) assertTree(value, new Set());
  return value;
}

/** Neither Kubernetes nor the kit writes aliases; a few of them make a text of gigabytes. */
function assertTree(value: unknown, seen: Set<object>): void {
  if (typeof value !== 'object' || value === null) return;
  if (seen.has(value)) throw new Error('an alias stands for an object that is there already');
  seen.add(value);
  for (const item of Object.values(value)) assertTree(item, seen);
}

/** How deep the parser for JSON goes is bounded by the stack alone. */
function jsonOf(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (depthOf(value, 0) > NESTING_MAX)
    throw new RangeError(`the object is nested more than ${NESTING_MAX} deep`);
  return value;
}

function depthOf(value: unknown, above: number): number {
  if (typeof value !== 'object' || value === null || above > NESTING_MAX) return above;
  return Object.values(value).reduce(
    (deepest: number, item) => Math.max(deepest, depthOf(item, above + 1)),
    above + 1,
  );
}

function messageOf(error: unknown): string {
  return firstLine(error instanceof Error ? error.message : String(error));
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? text;
}

/** Typed lists name the kind of their items only once, as `VolumeList`. */
function objectOf(
  value: unknown,
  mangled: boolean,
  file: string,
  { line, listKind }: ItemText,
): KubernetesObject | ReadProblem {
  const json = record.safeParse(mangled ? undoMangling(value) : value);
  const known = head.safeParse(json.data);
  const wrong = (message: string): ReadProblem => ({ kind: 'problem', code: 'format', file, line, message });
  if (!json.success || !known.success)
    return wrong('this is not an object of Kubernetes: it has no metadata with a name');
  const { apiVersion, kind, metadata } = known.data;
  const type = kind !== '' ? kind : (listKind ?? '').replace(/List$/, '') || typeByFile(file);
  if (type === '') return wrong('the object does not say of which kind it is');
  const version = apiVersion !== '' ? apiVersion : versionByFile(file);
  return {
    kind: 'object',
    group: version.includes('/') ? (version.split('/')[0] ?? '') : '',
    apiVersion: version,
    type,
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    json: json.data,
    file,
    line,
  };
}

const TYPE_OF_FILE: Readonly<Record<string, string>> = {
  volumes: 'Volume',
  engines: 'Engine',
  replicas: 'Replica',
  nodes: 'Node',
  settings: 'Setting',
  engineimages: 'EngineImage',
  instancemanagers: 'InstanceManager',
  snapshots: 'Snapshot',
  recurringjobs: 'RecurringJob',
  backups: 'Backup',
  backupvolumes: 'BackupVolume',
  backuptargets: 'BackupTarget',
  backingimages: 'BackingImage',
  sharemanagers: 'ShareManager',
  orphans: 'Orphan',
  volumeattachments: 'VolumeAttachment',
};

function typeByFile(file: string): string {
  const name = /([^/\\]+)\.[a-z]+$/i.exec(file)?.[1] ?? '';
  return TYPE_OF_FILE[name.toLowerCase()] ?? '';
}

/** In Longhorn's own bundles the folder says whose objects they are. */
function versionByFile(file: string): string {
  return /[/\\]kubernetes[/\\][^/\\]+$/.test(file) ? 'v1' : 'longhorn.io/v1beta1';
}
