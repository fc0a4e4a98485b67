import { formatBytes } from '@holdfast/core/model/bytes.js';
import { durationText } from '@holdfast/core/model/disk-answers.js';
import { Command } from 'commander';
import { Context, print } from '../context.js';
import { formatList } from '../output/format.js';
import { labelsText } from '../output/labels.js';
import { isTrue } from '../output/states.js';
import type { Column } from '../output/table.js';
import type { Disk, Node } from '../types.js';
import { addDiskAccept, addDiskAdd, addDiskGet, addDiskRemove, addDiskSet, disksOf } from './disk-change.js';
import { directIoRefusal, diskStatus } from './disk-text.js';

type Row = Disk & { nodeName: string };

const COLUMNS: Column<Row>[] = [
  { header: 'node', cell: (disk) => disk.nodeName },
  { header: 'disk', cell: (disk) => disk.name },
  {
    header: 'status',
    cell: (disk) => diskStatus(disk),
    tone: (disk) => (isTrue(disk.conditions, 'Ready') ? 'good' : 'bad'),
  },
  { header: 'free', cell: (disk) => formatBytes(disk.storageAvailable), align: 'right' },
  { header: 'promised', cell: (disk) => formatBytes(disk.storageScheduled), align: 'right' },
  { header: 'size', cell: (disk) => formatBytes(disk.storageMaximum), align: 'right' },
  { header: 'tags', cell: (disk) => disk.tags.join(',') || '-' },
  { header: 'id', cell: (disk) => disk.id, wide: true },
  { header: 'labels', cell: (disk) => labelsText(disk.labels), wide: true },
  { header: 'folder', cell: (disk) => disk.path, wide: true },
  {
    header: 'answers within',
    cell: ({ answers }) => (answers === null ? '-' : durationText(answers.p99Ms)),
    align: 'right',
    wide: true,
  },
  { header: 'note', cell: (disk) => directIoRefusal(disk) ?? '', wide: true },
];

export function diskCommand(): Command {
  const disk = new Command('disk');
  disk
    .command('list')
    .option('--node <node>', 'only that node, by name or id')
    .description('all disks and how full they are')
    .action(async (options: { node?: string }, command: Command) => {
      const context = new Context(command);
      const nodes = options.node === undefined ? await context.nodes() : [await context.node(options.node)];
      const perNode = await Promise.all(nodes.map((node) => rowsOf(context, node)));
      print(formatList(perNode.flat(), COLUMNS, context.output));
    });
  addDiskGet(disk);
  addDiskAdd(disk);
  addDiskSet(disk);
  addDiskRemove(disk);
  addDiskAccept(disk);
  return disk;
}

async function rowsOf(context: Context, node: Node): Promise<Row[]> {
  return (await disksOf(context, node)).map((disk) => ({ ...disk, nodeName: node.name }));
}
