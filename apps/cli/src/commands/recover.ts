/** Volumes that the database has lost, made again of the copies on the nodes' disks: shown first, then done. */
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Command } from 'commander';
import { bodyOf } from '../api.js';
import { Context, print, remark } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList } from '../output/format.js';
import type { Column } from '../output/table.js';
import type { Recovery, Volume } from '../types.js';
import { findProject } from './find-project.js';

/** Pages of one plan: 100 volumes each, and more than a control plane has. */
const PAGES_MAX = 10_000;
const PAGE_VOLUMES = 100;

type Options = {
  fromCluster?: string;
  project?: string;
  name?: string;
  acceptMissing?: boolean;
  acceptDeleted?: boolean;
};
type Choice = {
  fromClusterId?: string;
  projectId?: string;
  name?: string;
  acceptsMissing?: boolean;
  acceptsDeleted?: boolean;
};

const COLUMNS: Column<Recovery>[] = [
  { header: 'volume', cell: ({ name }) => name },
  { header: 'size', cell: ({ size }) => (size === null ? '-' : formatBytes(size)), align: 'right' },
  { header: 'copies', cell: copiesText },
  { header: 'on', cell: ({ copies }) => copies.filter(isCurrent).map(placeText).join(', ') },
  { header: 'record', cell: ({ record }) => recordText(record) },
  {
    header: 'not used',
    cell: ({ copies }) =>
      copies
        .filter((copy) => !isCurrent(copy))
        .map(unusedText)
        .join(', '),
  },
  { header: 'missing', cell: ({ missingReplicaIds }) => missingReplicaIds.join(', ') },
  { header: 'then', cell: outcomeText },
  { header: 'volume id', cell: ({ volumeId }) => volumeId, wide: true },
  { header: 'project', cell: ({ projectId }) => projectId ?? '-', wide: true },
  { header: 'of cluster', cell: ({ fromClusterId }) => fromClusterId ?? '-', wide: true },
];

export function recoverCommand(): Command {
  return new Command('recover')
    .argument('[volumes...]', 'names or ids as the plan shows them; they are recovered at once')
    .option('--from-cluster <id>', 'the lost cluster that the copies are of, where this one takes its place')
    .option('--project <project>', 'name or id of the project to put them into')
    .option('--name <name>', 'name to give the one volume that is recovered')
    .option(
      '--accept-missing',
      'also where copies are missing: the volume waits for them until it is salvaged',
    )
    .option('--accept-deleted', 'also a volume that was deleted while a node with copies of it was down')
    .action(async (names: string[], options: Options, command: Command) => {
      const context = new Context(command);
      const choice = await choiceOf(context, options, names);
      const plan = await readPlan(context, choice);
      if (names.length > 0)
        return recoverEach(
          context,
          names.map((name) => find(plan, name)),
          choice,
        );
      if (!context.isSure)
        return print(formatItem({ items: plan }, () => describe(plan, context), context.output));
      const ready = plan.filter(({ obstacle }) => obstacle === null || isAccepted(obstacle.code, choice));
      await recoverEach(context, ready, choice);
      for (const line of plan.flatMap(obstacleLines)) remark(line);
      if (ready.length === 0) remark('Nothing was recovered.');
      else if (ready.some(({ isKnown }) => !isKnown)) remark(NOT_READ);
    });
}

async function choiceOf(context: Context, options: Options, names: readonly string[]): Promise<Choice> {
  const { fromCluster, project, name, acceptMissing, acceptDeleted } = options;
  if (name !== undefined && names.length !== 1) {
    throw new CliError(EXIT.usage, '--name is for one volume', ['name that volume by its id']);
  }
  return {
    ...(fromCluster === undefined ? {} : { fromClusterId: fromCluster }),
    ...(project === undefined ? {} : { projectId: (await findProject(context, project)).id }),
    ...(name === undefined ? {} : { name }),
    ...(acceptMissing === undefined ? {} : { acceptsMissing: acceptMissing }),
    ...(acceptDeleted === undefined ? {} : { acceptsDeleted: acceptDeleted }),
  };
}

async function readPlan(context: Context, { fromClusterId }: Choice): Promise<Recovery[]> {
  const path = { clusterId: await context.clusterId() };
  const plan: Recovery[] = [];
  let after: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = {
      limit: PAGE_VOLUMES,
      ...(after === undefined ? {} : { after }),
      ...(fromClusterId === undefined ? {} : { fromClusterId }),
    };
    const { items, next } = await bodyOf(context.api.GET(RECOVERIES, { params: { path, query } }));
    plan.push(...items);
    if (next === null) break;
    after = next;
  }
  return plan;
}

async function recoverEach(context: Context, items: readonly Recovery[], choice: Choice): Promise<void> {
  const clusterId = await context.clusterId();
  await context.each(items, async ({ volumeId }) => {
    const path = { clusterId, volumeId };
    const volume = await bodyOf(
      context.api.POST(`${RECOVERIES}/{volumeId}`, { params: { path }, body: choice }),
    );
    print(formatItem(volume, () => recoveredText(volume), context.output));
  });
}

function recoveredText({ name, id, replicas }: Volume): string {
  return `${name}: recovered with ${replicas.length} ${replicas.length === 1 ? 'copy' : 'copies'} (${id})`;
}

function find(plan: readonly Recovery[], nameOrId: string): Recovery {
  const found = plan.filter(({ name, volumeId }) => name === nameOrId || volumeId === nameOrId);
  const [only, ...others] = found;
  if (only === undefined) {
    throw new CliError(EXIT.notFound, `no copy that was found is of a volume ${nameOrId}`, [
      'holdfast recover lists them',
      'a copy is found some ten seconds after its node is back',
    ]);
  }
  if (others.length > 0) {
    throw new CliError(EXIT.usage, `several volumes are called ${nameOrId}`, [
      `name one by its id: ${found.map(({ volumeId }) => volumeId).join(', ')}`,
    ]);
  }
  return only;
}

function describe(plan: readonly Recovery[], context: Context): string {
  if (plan.length === 0) return 'No copies were found that the database does not know.';
  const ready = plan.filter(({ obstacle }) => obstacle === null).length;
  const rest =
    ready === 0
      ? []
      : ['', `Add --yes to make ${ready === 1 ? 'it' : `these ${ready}`} again, or name single ones.`];
  const unread = plan.some(({ isKnown, obstacle }) => !isKnown && obstacle?.code !== 'NotNeeded')
    ? ['', NOT_READ]
    : [];
  const table = formatList([...plan], COLUMNS, context.output);
  return [table, ...plan.flatMap(obstacleLines), ...unread, ...rest].join('\n');
}

function obstacleLines({ name, obstacle }: Recovery): string[] {
  if (obstacle === null || obstacle.code === 'NotNeeded') return [];
  return ['', `${name} can't be recovered: ${obstacle.why}.`, ...obstacle.cures.map((cure) => `  - ${cure}`)];
}

function outcomeText({ obstacle, isKnown }: Recovery): string {
  if (obstacle === null) return isKnown ? 'gets these copies back' : 'is made again';
  return obstacle.code === 'NotNeeded' ? 'left over: stays as it is' : `waits: ${obstacle.code}`;
}

function isAccepted(code: string, { acceptsMissing, acceptsDeleted, projectId }: Choice): boolean {
  return (
    (code === 'MissingCopies' && acceptsMissing === true) ||
    (code === 'Deleted' && acceptsDeleted === true) ||
    (code === 'NoProject' && projectId !== undefined)
  );
}

type Copy = Recovery['copies'][number];

function isCurrent({ verdict }: Copy): boolean {
  return verdict === 'current';
}

function copiesText({ copies, numberOfReplicas }: Recovery): string {
  const wanted = numberOfReplicas === null ? '' : ` of ${numberOfReplicas}`;
  return `${copies.filter(isCurrent).length}${wanted}`;
}

function placeText({ nodeName, diskName }: Copy): string {
  return `${nodeName}/${diskName}`;
}

function unusedText(copy: Copy): string {
  return `${placeText(copy)} ${copy.verdict} ${recordText(copy.record)}`;
}

function recordText(record: Recovery['record']): string {
  return record === null ? '-' : `${record.epoch}.${record.dataGeneration}`;
}

const NOT_READ =
  "A volume's labels, snapshot schedules and own settings are those of its last attach; copies of older versions do not store them. Repeat later changes afterwards.";
const RECOVERIES = '/clusters/{clusterId}/recoveries';
