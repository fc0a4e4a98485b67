import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Command } from 'commander';
import { itemsOf } from '../api.js';
import { Context, print } from '../context.js';
import { formatList } from '../output/format.js';
import { isTrue } from '../output/states.js';
import type { Column } from '../output/table.js';
import type { Disk, Node } from '../types.js';

type Row = Disk & { nodeName: string };

const COLUMNS: Column<Row>[] = [
  { header: 'node', cell: (disk) => disk.nodeName },
  { header: 'disk', cell: (disk) => disk.name },
  {
    header: 'status',
    cell: (disk) => status(disk),
    tone: (disk) => (isTrue(disk.conditions, 'Ready') ? 'good' : 'bad'),
  },
  { header: 'free', cell: (disk) => formatBytes(disk.storageAvailable), align: 'right' },
  { header: 'promised', cell: (disk) => formatBytes(disk.storageScheduled), align: 'right' },
  { header: 'size', cell: (disk) => formatBytes(disk.storageMaximum), align: 'right' },
  { header: 'tags', cell: (disk) => disk.tags.join(',') || '-' },
  { header: 'id', cell: (disk) => disk.id, wide: true },
  { header: 'folder', cell: (disk) => disk.path, wide: true },
  { header: 'note', cell: (disk) => refusal(disk) ?? '', wide: true },
];

/** A condition that does not make a disk bad: without direct I/O it works, at a cost. */
const DIRECT_IO = 'DirectIo';

function refusal({ conditions }: Disk): string | undefined {
  return conditions.find(({ status, type }) => status === 'False' && type === DIRECT_IO)?.message;
}

function status(disk: Disk): string {
  const wrong = disk.conditions.find(({ status, type }) => status === 'False' && type !== DIRECT_IO);
  if (wrong !== undefined) return `✕ ${wrong.reason}`;
  if (!disk.allowScheduling) return '○ scheduling off';
  return refusal(disk) === undefined ? '✓ ready' : '▲ ready, no direct I/O';
}

export function diskCommand(): Command {
  const disk = new Command('disk').alias('disks').description('disks of the nodes');
  disk
    .command('list')
    .option('--node <node>', 'only that node, by name or id')
    .description('all disks and how full they are')
    .action(async (options: { node?: string }, command: Command) => {
      const context = new Context(command);
      const nodes = options.node === undefined ? await context.nodes() : [await context.node(options.node)];
      const perNode = await Promise.all(nodes.map((node) => disksOf(context, node)));
      print(formatList(perNode.flat(), COLUMNS, context.output));
    });
  return disk;
}

async function disksOf(context: Context, node: Node): Promise<Row[]> {
  const path = { clusterId: node.clusterId, nodeId: node.id };
  const disks = await itemsOf((query) =>
    context.api.GET('/clusters/{clusterId}/nodes/{nodeId}/disks', { params: { path, query } }),
  );
  return disks.map((disk) => ({ ...disk, nodeName: node.name }));
}
