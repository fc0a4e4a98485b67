import { type Command, Option as Flag } from 'commander';
import { Context, print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList } from '../output/format.js';
import { parseCount } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { Volume, VolumeSetting } from '../types.js';

/** How an option becomes a field of the request. */
type Kind = 'count' | 'text' | 'tags';
type Field = { flags: string; field: string; kind: Kind; help: string };

/** What a person writes for "as the cluster says", whatever the field calls it. */
const INHERIT = 'inherit';
const SWITCH = 'enabled, disabled, or inherit from the cluster';

const FIELDS: readonly Field[] = [
  { flags: '--replicas <n>', field: 'numberOfReplicas', kind: 'count', help: 'copies to keep' },
  {
    flags: '--data-locality <mode>',
    field: 'dataLocality',
    kind: 'text',
    help: 'disabled, best-effort or strict-local',
  },
  {
    flags: '--node-selector [tags...]',
    field: 'nodeSelector',
    kind: 'tags',
    help: 'only nodes that have all these tags; without tags any node',
  },
  {
    flags: '--disk-selector [tags...]',
    field: 'diskSelector',
    kind: 'tags',
    help: 'only disks that have all these tags; without tags any disk',
  },
  {
    flags: '--snapshot-data-integrity <mode>',
    field: 'snapshotDataIntegrity',
    kind: 'text',
    help: 'disabled, enabled (in full), fast-check, or inherit from the cluster',
  },
  {
    flags: '--snapshot-max-count <n>',
    field: 'snapshotMaxCount',
    kind: 'count',
    help: 'snapshots it may have, or inherit from the cluster',
  },
  { flags: '--offline-rebuilding <mode>', field: 'offlineRebuilding', kind: 'text', help: SWITCH },
  { flags: '--soft-anti-affinity <mode>', field: 'replicaSoftAntiAffinity', kind: 'text', help: SWITCH },
  {
    flags: '--zone-soft-anti-affinity <mode>',
    field: 'replicaZoneSoftAntiAffinity',
    kind: 'text',
    help: SWITCH,
  },
  {
    flags: '--disk-soft-anti-affinity <mode>',
    field: 'replicaDiskSoftAntiAffinity',
    kind: 'text',
    help: SWITCH,
  },
  {
    flags: '--disk-choice <choice>',
    field: 'replicaDiskChoice',
    kind: 'text',
    help: 'spread, pack, or inherit from the cluster',
  },
  {
    flags: '--auto-balance <mode>',
    field: 'replicaAutoBalance',
    kind: 'text',
    help: 'disabled, least-effort, best-effort, or inherit from the cluster',
  },
];

/** Changes what is wanted of a volume; only what is named. */
export function addSet(volume: Command): void {
  const set = volume.command('set').argument('<volume>', 'name or id');
  for (const { flags, help } of FIELDS) set.option(flags, help);
  set
    .description('change what is wanted of a volume')
    .action(async (name: string, options: Record<string, unknown>, command: Command) => {
      const context = new Context(command);
      const body = patchBody(options);
      if (Object.keys(body).length === 0) throw new CliError(EXIT.usage, 'nothing to set was named');
      const { id } = await context.volume(name);
      const changed = await context.api.patch<Volume>(`${await context.clusterPath()}/volumes/${id}`, body);
      print(formatItem(changed, () => `${changed.name}: set`, context.output));
    });
}

/** @returns the fields that were named, as the API takes them */
export function patchBody(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const named = FIELDS.flatMap((field) => {
    const given = options[new Flag(field.flags).attributeName()];
    return given === undefined ? [] : [[field.field, asField(field, given)] as const];
  });
  return Object.fromEntries(named);
}

function asField({ field, kind }: Field, given: unknown): unknown {
  // An option whose tags are optional is `true` when it is named without any.
  if (kind === 'tags') return Array.isArray(given) ? given : [];
  const text = String(given);
  const mayInherit = field !== 'numberOfReplicas' && field !== 'dataLocality';
  if (mayInherit && text === INHERIT) return kind === 'count' ? 0 : 'ignored';
  return kind === 'count' ? parseCount(text) : text;
}

const COLUMNS: Column<VolumeSetting>[] = [
  { header: 'setting', cell: ({ name }) => name },
  {
    header: 'value',
    cell: ({ value }) => String(value),
    tone: ({ source }) => (source === 'volume' ? 'busy' : 'plain'),
  },
  { header: 'set by', cell: ({ source }) => source },
  { header: 'the cluster says', cell: ({ clusterValue }) => String(clusterValue) },
  { header: "the cluster's setting", cell: ({ follows }) => follows, wide: true },
  { header: 'meaning', cell: ({ definition }) => definition.description, wide: true },
];

export function addSettings(volume: Command): void {
  volume
    .command('settings')
    .argument('<volume>', 'name or id')
    .description('what is in effect for it, and whether it or its cluster says so')
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const { id } = await context.volume(name);
      const path = `${await context.clusterPath()}/volumes/${id}/settings`;
      print(formatList(await context.api.list<VolumeSetting>(path), COLUMNS, context.output));
    });
}
