import {
  followingValue,
  overrideBounds,
  overrideWords,
  VOLUME_OVERRIDES,
  type VolumeOverride,
} from '@holdfast/core/model/volume-overrides.js';
import { type Command, Option as Flag } from 'commander';
import { bodyOf, VOLUME } from '../api.js';
import { Context, print, remark } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { type Choices, parseChoice } from '../output/choices.js';
import { formatItem, formatList } from '../output/format.js';
import { parseLabels } from '../output/labels.js';
import { parseCount } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { PatchPlan, VolumeChange, VolumeSetting } from '../types.js';

/** A command-line option, and the field of the request that it sets. */
type Field = { flags: string; help: string; change: (given: Given) => VolumeChange };
/** An option's value as commander gives it: `true` where the value is left out. */
type Given = string | string[] | true;

/** Word for "follow the cluster's setting", whatever the API calls it for the field. */
const INHERIT = 'inherit';
const NEVER = 'never';

export const DATA_LOCALITIES: Choices<NonNullable<VolumeChange['dataLocality']>> = {
  disabled: true,
  'best-effort': true,
  'strict-local': true,
};
export const DISK_CHOICES: Choices<NonNullable<VolumeChange['replicaDiskChoice']>> = {
  spread: true,
  pack: true,
  ignored: true,
};
const FIELDS: readonly Field[] = [
  {
    flags: '--replicas <n>',
    help: 'copies to keep',
    change: (given) => ({ numberOfReplicas: parseCount(String(given)) }),
  },
  {
    flags: '--data-locality <mode>',
    help: 'disabled, best-effort or strict-local',
    change: (given) => ({ dataLocality: parseChoice(String(given), DATA_LOCALITIES) }),
  },
  {
    flags: '--node-selector [tags...]',
    help: 'only nodes that have all these tags; without tags any node',
    change: (given) => ({ nodeSelector: tagsOf(given) }),
  },
  {
    flags: '--disk-selector [tags...]',
    help: 'only disks that have all these tags; without tags any disk',
    change: (given) => ({ diskSelector: tagsOf(given) }),
  },
  {
    flags: '--label <labels...>',
    help: 'key=value sets a label, key- takes it off; others stay',
    change: (given) => ({ labels: parseLabels(tagsOf(given)) }),
  },
  ...VOLUME_OVERRIDES.map(fieldOf),
];

/** The option of a setting that the volume may answer for itself. */
function fieldOf(override: VolumeOverride): Field {
  const { field, volume } = override;
  const words = overrideWords(override);
  const choices =
    words === undefined
      ? undefined
      : Object.fromEntries([...words, 'ignored'].map((word) => [word, true as const]));
  // -1 has a word: an option's value that begins with a dash reads as another option.
  const mayBeNever = overrideBounds(override)?.min === -1;
  const told = words?.join(', ') ?? (mayBeNever ? 'a number, never' : 'a number');
  const parse = (given: string) => {
    if (choices !== undefined) return parseChoice(given, choices);
    return mayBeNever && given === NEVER ? -1 : parseCount(given);
  };
  return {
    flags: `--${volume.flag} ${words === undefined ? '<n>' : '<mode>'}`,
    help: `${volume.title.toLowerCase()}: ${told}, or inherit from the cluster`,
    change: (given) => ({
      [field]: given === INHERIT ? followingValue(override) : parse(String(given)),
    }),
  };
}

function tagsOf(given: Given): string[] {
  return Array.isArray(given) ? given : [];
}

/** Adds `volume set`, which changes only the fields that are named. */
export function addSet(volume: Command): void {
  const set = volume.command('set').argument('<volume>', 'name or id');
  for (const { flags, help } of FIELDS) set.option(flags, help);
  set
    .option('--plan', 'only show the effect on its copies')
    .description("change a volume's settings; lists first the copies that go")
    .action(async (name: string, options: Record<string, Given>, command: Command) => {
      const context = new Context(command);
      const body = patchBody(options);
      if (Object.keys(body).length === 0) throw new CliError(EXIT.usage, 'nothing to set was named');
      const path = await context.volumeKey(name);
      const plan = concernsCopies(body)
        ? await bodyOf(context.api.POST(`${VOLUME}/patch-plan`, { params: { path }, body }))
        : NO_CHANGE;
      if (options.plan !== undefined) {
        print(formatItem(plan, () => planText(plan), context.output));
        return;
      }
      if (plan.removes.length > 0 || plan.unfit.length > 0) remark(planText(plan));
      const changed = await bodyOf(context.api.PATCH(VOLUME, { params: { path }, body }));
      print(formatItem(changed, () => `${changed.name}: set`, context.output));
    });
}

const NO_CHANGE = { sentence: 'its copies stay as they are', removes: [], unfit: [] } as const;

/** Of other fields no copy comes or goes at once. */
function concernsCopies({ numberOfReplicas, nodeSelector, diskSelector }: VolumeChange): boolean {
  return numberOfReplicas !== undefined || nodeSelector !== undefined || diskSelector !== undefined;
}

/** Effect on the copies, with the reasons for choosing them. */
export function planText({ sentence, removes, unfit }: ShownPlan): string {
  const named = [...removes, ...unfit].map(({ replicaId, nodeName, why }) => {
    return `  - replica ${replicaId} on ${nodeName ?? 'no node'}: ${why}`;
  });
  return [sentence, ...named].join('\n');
}

type ShownPlan = {
  readonly sentence: string;
  readonly removes: readonly PatchPlan['removes'][number][];
  readonly unfit: readonly PatchPlan['unfit'][number][];
};

/** The request body. @returns the fields that were named, as the API takes them */
export function patchBody(options: Readonly<Record<string, Given>>): VolumeChange {
  let body: VolumeChange = {};
  for (const { flags, change } of FIELDS) {
    const given = options[new Flag(flags).attributeName()];
    if (given !== undefined) body = { ...body, ...change(given) };
  }
  return body;
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
    .description("settings in effect for it, and whether each is its own or its cluster's")
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const path = await context.volumeKey(name);
      const { items } = await bodyOf(context.api.GET(`${VOLUME}/settings`, { params: { path } }));
      print(formatList(items, COLUMNS, context.output));
    });
}
