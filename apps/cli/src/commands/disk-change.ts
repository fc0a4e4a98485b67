/** `disk add`, `disk set` and `disk remove`: what changes the disks of a node. */
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { type Command, Option } from 'commander';
import { bodyOf, doneOf, itemsOf } from '../api.js';
import { Context, print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { parseSwitch } from '../output/choices.js';
import { formatItem } from '../output/format.js';
import { parseLabels, parseNewLabels } from '../output/labels.js';
import { collect, given } from '../output/options.js';
import { parseSize } from '../output/quantities.js';
import type { Disk, Node } from '../types.js';
import { waitFor } from '../wait.js';
import { describeDisk, diskStatus } from './disk-text.js';

const DISKS = '/clusters/{clusterId}/nodes/{nodeId}/disks';
const DISK = `${DISKS}/{diskId}` as const;

type AddOptions = {
  name?: string;
  type: 'filesystem' | 'block';
  size?: number;
  reserve?: number;
  tag: string[];
  label?: string[];
  wait?: true;
};

export function addDiskAdd(disk: Command): void {
  disk
    .command('add')
    .argument('<node>', 'name or id of the node')
    .argument('<path>', 'a folder, or the file or device of a block disk, as its agent sees it')
    .description('add a disk to a node; its agent sets it up below the folders of HOLDFAST_DISK_ROOTS')
    .option('--name <name>', 'else the last part of the path')
    .addOption(
      new Option('--type <type>', 'filesystem for v1 volumes, block for v2')
        .choices(['filesystem', 'block'])
        .default('filesystem'),
    )
    .option('--size <size>', 'most that its copies may take, such as 100GiB', parseSize)
    .option('--reserve <size>', 'bytes to keep free of replicas', parseSize)
    .option('--tag <tag>', 'for disk selectors; may be given again', collect, [])
    .option('--label <labels...>', 'key=value, to find it by')
    .option('--wait', 'return when it is ready, or refused (exit code 3), or after --timeout')
    .action(async (nodeName: string, path: string, options: AddOptions, command: Command) => {
      const context = new Context(command);
      const node = await context.node(nodeName);
      const { name, type, size, reserve: storageReserved, tag: tags, label } = options;
      const labels = label === undefined ? undefined : parseNewLabels(label);
      const added = await bodyOf(
        context.api.POST(DISKS, {
          params: { path: { clusterId: node.clusterId, nodeId: node.id } },
          body: { path, type, tags, ...given({ name, size, storageReserved, labels }) },
        }),
      );
      const now = options.wait === true ? await settled(context, node, added) : added;
      print(formatItem(now, () => said(node, now), context.output));
      if (options.wait === true && !isReady(now))
        throw new CliError(
          EXIT.unsatisfied,
          `disk ${now.name} of ${node.name} is not ready: ${readiness(now)?.message ?? 'its agent does not report it'}`,
        );
    });
}

export function addDiskGet(disk: Command): void {
  disk
    .command('get')
    .argument('<node>', 'name or id of the node')
    .argument('<disk>', 'name or id')
    .description('one disk: how full it is, and how fast it answers')
    .action(async (nodeName: string, name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const { node, disk: found } = await diskOf(context, nodeName, name);
      const now = await bodyOf(context.api.GET(DISK, { params: { path: pathOf(node, found) } }));
      print(formatItem(now, () => describeDisk(now, node.name), context.output));
    });
}

type SetOptions = {
  scheduling?: boolean;
  evict?: boolean;
  reserve?: number;
  tag?: string[];
  clearTags?: true;
  label?: string[];
};

export function addDiskSet(disk: Command): void {
  disk
    .command('set')
    .argument('<node>', 'name or id of the node')
    .argument('<disk>', 'name or id')
    .description('change the settings of a disk')
    .option('--scheduling <on|off>', 'whether new replicas may come', parseSwitch)
    .option('--evict <on|off>', 'evict its replicas; on switches scheduling off', parseSwitch)
    .option('--reserve <size>', 'bytes to keep free of replicas', parseSize)
    .option('--tag <tag>', 'replaces its tags; may be given again', collect)
    .option('--clear-tags', 'take all of its tags off')
    .option('--label <labels...>', 'key=value sets a label, key- takes it off; others stay')
    .action(async (nodeName: string, name: string, options: SetOptions, command: Command) => {
      const context = new Context(command);
      const { node, disk: found } = await diskOf(context, nodeName, name);
      const { scheduling, evict, reserve: storageReserved, tag, clearTags, label } = options;
      const body = given({
        allowScheduling: scheduling ?? (evict === true ? false : undefined),
        evictionRequested: evict,
        storageReserved,
        tags: clearTags === true ? [] : tag,
        labels: label === undefined ? undefined : parseLabels(label),
      });
      if (Object.keys(body).length === 0) throw new CliError(EXIT.usage, 'name the change: see --help');
      const changed = await bodyOf(context.api.PATCH(DISK, { params: { path: pathOf(node, found) }, body }));
      print(formatItem(changed, () => said(node, changed), context.output));
    });
}

export function addDiskRemove(disk: Command): void {
  disk
    .command('remove')
    .argument('<node>', 'name or id of the node')
    .argument('<disk>', 'name or id')
    .description('remove an empty disk from its node; the data at its path stays')
    .option('--wait', 'return when its agent has released it, or after --timeout')
    .action(async (nodeName: string, name: string, options: { wait?: true }, command: Command) => {
      const context = new Context(command);
      const { node, disk: found } = await diskOf(context, nodeName, name);
      const params = { path: pathOf(node, found) };
      await context.confirm(`This takes disk ${found.name} off node ${node.name}`);
      await doneOf(context.api.DELETE(DISK, { params }));
      if (options.wait === true) {
        const isGone = (left: Disk[]) => left.every(({ id }) => id !== found.id);
        const what = `the removal of disk ${found.name}`;
        await waitFor(() => disksOf(context, node), isGone, context.timeoutMs, what);
      }
      print(`${node.name}/${found.name} is removed; the data at ${found.path} stays`);
    });
}

export function addDiskAccept(disk: Command): void {
  disk
    .command('accept')
    .argument('<node>', 'name or id of the node')
    .argument('<disk>', 'name or id')
    .description('accept a duplicate disk, or one that was set back, as the true one')
    .action(async (nodeName: string, name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const { node, disk: found } = await diskOf(context, nodeName, name);
      await context.confirm(
        `This accepts ${found.path} of node ${node.name} as the true disk. Later writes are lost for volumes without another full copy; other copies on it are built anew`,
      );
      await doneOf(context.api.POST(`${DISK}/accept`, { params: { path: pathOf(node, found) } }));
      print(`${node.name}/${found.name} is accepted; it is used from its agent's next report`);
    });
}

export function disksOf(context: Context, node: Node): Promise<Disk[]> {
  const path = { clusterId: node.clusterId, nodeId: node.id };
  return itemsOf((query) => context.api.GET(DISKS, { params: { path, query } }));
}

async function diskOf(context: Context, nodeName: string, name: string): Promise<{ node: Node; disk: Disk }> {
  const node = await context.node(nodeName);
  const found = (await disksOf(context, node)).filter((one) => one.id === name || one.name === name);
  const [disk, ...others] = found;
  if (disk === undefined) throw new CliError(EXIT.notFound, `node ${node.name} has no disk ${name}`);
  // A reinstalled node: the former disk, which is missing, and the one that took its place.
  if (others.length > 0) throw new CliError(EXIT.usage, ambiguous(node, name, found));
  return { node, disk };
}

function ambiguous(node: Node, name: string, found: readonly Disk[]): string {
  const each = found.map((disk) => `${disk.id} (${diskStatus(disk)}, ${disk.path})`);
  return `node ${node.name} has ${found.length} disks named ${name}; give the id of one: ${each.join(', ')}`;
}

/** The disk once its agent has reported its find. If a disk was at the path, that one replaces the added one. */
async function settled(context: Context, node: Node, added: Disk): Promise<Disk> {
  const current = async () => (await disksOf(context, node)).find(({ path }) => path === added.path);
  const isSettled = (disk: Disk | undefined) =>
    disk !== undefined && readiness(disk)?.reason !== 'DiskPending';
  return (await waitFor(current, isSettled, context.timeoutMs, `setting up disk ${added.name}`)) ?? added;
}

function readiness({ conditions }: Disk) {
  return conditions.find(({ type }) => type === 'Ready');
}

function isReady(disk: Disk): boolean {
  return readiness(disk)?.status === 'True';
}

function said(node: Node, disk: Disk): string {
  const size = disk.storageMaximum === 0 ? '' : `, ${formatBytes(disk.storageMaximum)}`;
  return `${node.name}/${disk.name}: ${diskStatus(disk)}${size}`;
}

function pathOf(node: Node, disk: Disk) {
  return { clusterId: node.clusterId, nodeId: node.id, diskId: disk.id };
}
