import { formatBytes } from '@holdfast/core/model/bytes.js';
import type { Command } from 'commander';
import { bodyOf, itemsOf, VOLUME } from '../api.js';
import { Context, keyOf, print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList } from '../output/format.js';
import type { Column } from '../output/table.js';
import type { MovePlan, Node, Volume } from '../types.js';
import { waitFor } from '../wait.js';

type Options = { toNode?: string; toDisk?: string; plan?: boolean; wait?: boolean };
type Target = { nodeId?: string; diskId?: string };
type Candidate = MovePlan['candidates'][number];

const REPLICA = `${VOLUME}/replicas/{replicaId}` as const;
/** Of an id: as many characters as `volume get` shows. */
const SHORT_ID_LENGTH = 8;

const COLUMNS: Column<Candidate>[] = [
  { header: 'node', cell: ({ nodeName }) => nodeName },
  { header: 'disk', cell: ({ diskName }) => diskName },
  {
    header: 'possible',
    cell: ({ isPossible }) => (isPossible ? '✓ yes' : '✕ no'),
    tone: ({ isPossible }) => (isPossible ? 'good' : 'plain'),
  },
  { header: 'why not', cell: ({ message }) => message ?? '' },
  { header: 'what would help', cell: ({ cure }) => cure ?? '', wide: true },
  { header: 'disk id', cell: ({ diskId }) => diskId, wide: true },
];

export function addRemoveReplica(volume: Command): void {
  volume
    .command('remove-replica')
    .argument('<volume>', 'name or id')
    .argument('<replica>', 'id')
    .description('drop one copy; another is built in its place')
    .action(async (name: string, replicaId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const path = { ...(await context.volumeKey(name)), replicaId };
      await context.confirm(`This drops one copy of volume ${name} for good`);
      const removed = await bodyOf(
        context.api.DELETE(`${VOLUME}/replicas/{replicaId}`, { params: { path } }),
      );
      print(formatItem(removed, () => `${replicaId}: is being removed`, context.output));
    });
}

export function addMoveReplica(volume: Command): void {
  volume
    .command('move-replica')
    .argument('<volume>', 'name or id')
    .argument('<replica>', 'its id, the end of it as `volume get` shows it, or the name of its node')
    .option('--to-node <node>', 'name or id (default: any node that fits)')
    .option('--to-disk <disk>', 'name or id (default: any disk of the node that fits)')
    .option('--plan', "only show where it would go; exit code 3 when it can't")
    .option('--wait', 'return when the old copy is gone')
    .description('build a copy elsewhere, then remove the old one')
    .action(async (name: string, replica: string, options: Options, command: Command) => {
      const context = new Context(command);
      const found = await context.volume(name);
      const nodes = await context.nodes();
      const path = { ...keyOf(found), replicaId: findReplica(found, nodes, replica) };
      const body = await targetOf(context, options);
      if (options.plan === true) {
        const plan = await bodyOf(context.api.POST(`${REPLICA}/move-plan`, { params: { path }, body }));
        print(formatItem(plan, () => describePlan(plan, context), context.output));
        if (!plan.isPossible) throw new CliError(EXIT.unsatisfied, plan.sentence, plan.refusal?.cures);
        return;
      }
      const moving = await bodyOf(context.api.POST(`${REPLICA}/move`, { params: { path }, body }));
      const current = options.wait === true ? await waitUntilMoved(context, moving, path.replicaId) : moving;
      print(formatItem(current, () => progressText(current, nodes, path.replicaId), context.output));
    });
}

/** @throws CliError when none, or several of the volume's copies, are meant */
export function findReplica(
  { name, replicas }: Pick<Volume, 'name' | 'replicas'>,
  nodes: readonly Pick<Node, 'id' | 'name'>[],
  given: string,
): string {
  const nodeId = nodes.find((node) => node.name === given)?.id;
  const isMeant = ({ id, nodeId: on }: Volume['replicas'][number]) =>
    id === given || (given.length >= SHORT_ID_LENGTH && id.endsWith(given)) || (on !== null && on === nodeId);
  const [replica, ...others] = replicas.filter(isMeant);
  if (replica === undefined) throw new CliError(EXIT.notFound, `volume ${name} has no copy ${given}`);
  if (others.length === 0) return replica.id;
  throw new CliError(EXIT.usage, `${given} names ${others.length + 1} copies of ${name}`, [
    `use an id: ${[replica, ...others].map(({ id }) => id).join(', ')}`,
  ]);
}

async function targetOf(context: Context, { toNode, toDisk }: Options): Promise<Target> {
  const node = toNode === undefined ? undefined : await context.node(toNode);
  const target = node === undefined ? {} : { nodeId: node.id };
  if (toDisk === undefined) return target;
  return { ...target, diskId: await findDisk(context, toDisk, node) };
}

async function findDisk(context: Context, nameOrId: string, node: Node | undefined): Promise<string> {
  const nodes = node === undefined ? await context.nodes() : [node];
  const perNode = await Promise.all(
    nodes.map(({ clusterId, id: nodeId }) =>
      itemsOf((query) =>
        context.api.GET('/clusters/{clusterId}/nodes/{nodeId}/disks', {
          params: { path: { clusterId, nodeId }, query },
        }),
      ),
    ),
  );
  const [disk, ...others] = perNode.flat().filter(({ id, name }) => id === nameOrId || name === nameOrId);
  if (disk === undefined) throw new CliError(EXIT.notFound, `there is no disk ${nameOrId}`);
  if (others.length === 0) return disk.id;
  throw new CliError(EXIT.usage, `${others.length + 1} nodes have a disk ${nameOrId}`, [
    'name the node with --to-node, or use the id of the disk',
  ]);
}

function describePlan(plan: MovePlan, context: Context): string {
  const { sentence, bytes, isPossible, candidates } = plan;
  const cost = isPossible
    ? `${formatBytes(bytes)} have to be copied; the old copy stays until that is done.`
    : '';
  const lines = [`${sentence}.`, ...(cost === '' ? [] : [cost]), ''];
  return [...lines, formatList(candidates, COLUMNS, context.output)].join('\n');
}

function waitUntilMoved(context: Context, volume: Volume, replicaId: string): Promise<Volume> {
  const isOver = ({ replicas }: Volume) =>
    replicas.every(({ relocation }) => relocation?.replacesReplicaId !== replicaId);
  return waitFor(() => context.readVolume(keyOf(volume)), isOver, context.timeoutMs, 'moving');
}

function progressText({ name, replicas }: Volume, nodes: readonly Node[], replicaId: string): string {
  const replacement = replicas.find(({ relocation }) => relocation?.replacesReplicaId === replicaId);
  const isGone = replicas.every(({ id }) => id !== replicaId);
  if (replacement === undefined) return `${name}: ${isGone ? 'moved' : 'the move was given up'}`;
  const target = nodes.find(({ id }) => id === replacement.nodeId)?.name ?? 'another node';
  return `${name}: a copy is built on ${target}; the old one goes when that is full`;
}
