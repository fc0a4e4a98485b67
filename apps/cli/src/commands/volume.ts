import { formatBytes } from '@holdfast/core/model/bytes.js';
import { healthyCopies, type SilentNodes, shownAddress } from '@holdfast/core/policy/silent-nodes.js';
import { Command } from 'commander';
import { bodyIfFound, bodyOf, VOLUME } from '../api.js';
import { Context, keyOf, print, printLine, remark, type VolumeKey } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { allNodesNow, type NodesNow, nodesOfVolume } from '../nodes-now.js';
import { type Choices, parseChoice } from '../output/choices.js';
import { formatItem, formatList, isForPeople } from '../output/format.js';
import { labelsText, parseNewLabels } from '../output/labels.js';
import { age, parseCount, parseSize } from '../output/quantities.js';
import { volumeLook } from '../output/states.js';
import type { Column } from '../output/table.js';
import { shownVolume } from '../shown-volume.js';
import type { NewVolume, Volume } from '../types.js';
import { waitFor } from '../wait.js';
import { describeVolumeExplanation } from './explanation-text.js';
import { printAttached } from './volume-attached.js';
import { attentionError, isAttachDecided, needsPerson, waitTeller } from './volume-attention.js';
import { addMoveReplica, addRemoveReplica } from './volume-move.js';
import { addSalvage } from './volume-salvage.js';
import { addSet, addSettings, DATA_LOCALITIES, DISK_CHOICES } from './volume-set.js';
import { addClone, addResize, addRevert } from './volume-task.js';
import { createdLine, describeVolume, unplacedLines } from './volume-text.js';
import { addAcceptCopies, addCancelVerify, addVerify } from './volume-verify.js';

function columns({ nameOf, silent }: NodesNow, now: Date): Column<Volume>[] {
  return [
    { header: 'name', cell: (volume) => volume.name },
    {
      header: 'health',
      cell: (volume) => volumeLook(volume, silent).text,
      tone: (volume) => volumeLook(volume, silent).tone,
    },
    {
      header: 'copies',
      cell: (volume) => `${healthyCopies(volume, silent) ?? '?'}/${volume.numberOfReplicas}`,
      align: 'right',
    },
    { header: 'state', cell: (volume) => volume.state },
    { header: 'attached to', cell: (volume) => nameOf(volume.attachedNodeId) },
    { header: 'size', cell: (volume) => formatBytes(volume.size), align: 'right' },
    { header: 'written', cell: (volume) => formatBytes(volume.writtenBytes), align: 'right' },
    { header: 'age', cell: (volume) => age(volume.createdAt, now), align: 'right' },
    { header: 'id', cell: (volume) => volume.id, wide: true },
    { header: 'labels', cell: (volume) => labelsText(volume.labels), wide: true },
    { header: 'address', cell: (volume) => addressCell(volume, silent), wide: true },
  ];
}

function addressCell(volume: Volume, silent: SilentNodes): string {
  const address = shownAddress(volume, silent);
  return address.kind === 'address' ? address.nbdUri : '-';
}

export function volumeCommand(): Command {
  const volume = new Command('volume');
  addCreate(volume);
  addList(volume);
  addGet(volume);
  addAttach(volume);
  addDetach(volume);
  addVerify(volume);
  addCancelVerify(volume);
  addAcceptCopies(volume);
  addExplain(volume);
  addSettings(volume);
  addSet(volume);
  addResize(volume);
  addRevert(volume);
  addClone(volume);
  addMoveReplica(volume);
  addRemoveReplica(volume);
  addSalvage(volume);
  addDelete(volume);
  return volume;
}

type CreateOptions = {
  size: string;
  replicas?: string;
  nodeSelector?: string[];
  diskSelector?: string[];
  topology?: string[];
  dataEngine?: string;
  dataLocality?: string;
  diskChoice?: string;
  project?: string;
  label?: string[];
};

function addCreate(volume: Command): void {
  volume
    .command('create')
    .argument('<name>', 'unique in its project')
    .requiredOption('--size <size>', 'bytes, or with Ki, Mi, Gi, Ti; a multiple of 4096')
    .option('--replicas <n>', 'copies to keep (default: the setting default-replica-count)')
    .option('--node-selector <tags...>', 'only nodes that have all these tags')
    .option('--disk-selector <tags...>', 'only disks that have all these tags')
    .option('--topology <terms...>', 'only nodes there: zone=<zone>, region=<region> or both with a comma')
    .option('--data-engine <engine>', 'v1, on folders, or v2, on block disks (default: v1)')
    .option('--data-locality <mode>', 'disabled, best-effort or strict-local')
    .option('--disk-choice <choice>', "spread or pack: which disk of a node (default: the cluster's setting)")
    .option('--label <labels...>', 'key=value, to find it by: --filter labels.key=value')
    .option('--project <id>', 'where the token may see several')
    .description('make a volume and place its copies')
    .action(async (name: string, options: CreateOptions, command: Command) => {
      const context = new Context(command);
      const path = { clusterId: await context.clusterId() };
      const body = createBody(name, options);
      const created = await bodyOf(
        context.api.POST('/clusters/{clusterId}/volumes', { params: { path }, body }),
      );
      const { nameOf } = await nodesOfVolume(context, created);
      printLine(context, created, createdLine(created, nameOf));
      for (const line of unplacedLines(created)) remark(line);
    });
}

const DATA_ENGINES: Choices<NonNullable<NewVolume['dataEngine']>> = { v1: true, v2: true };

type NewTerm = NonNullable<NewVolume['topologyRequirement']>[number];

/** `zone=a`, `region=eu` or `region=eu,zone=a`. */
function parseTopologyTerm(text: string): NewTerm {
  const term: NewTerm = {};
  for (const part of text.split(',')) {
    const [, key, value] = /^(zone|region)=(.+)$/.exec(part.trim()) ?? [];
    if ((key !== 'zone' && key !== 'region') || value === undefined || term[key] !== undefined) {
      throw new CliError(EXIT.usage, `${text} is no place`, ['write zone=a, region=eu or region=eu,zone=a']);
    }
    term[key] = value;
  }
  return term;
}

function createBody(name: string, options: CreateOptions): NewVolume {
  const { dataEngine, dataLocality, diskChoice } = options;
  return {
    name,
    size: parseSize(options.size),
    ...(options.replicas === undefined ? {} : { numberOfReplicas: parseCount(options.replicas) }),
    ...(options.nodeSelector === undefined ? {} : { nodeSelector: options.nodeSelector }),
    ...(options.diskSelector === undefined ? {} : { diskSelector: options.diskSelector }),
    ...(options.topology === undefined
      ? {}
      : { topologyRequirement: options.topology.map(parseTopologyTerm) }),
    ...(dataEngine === undefined ? {} : { dataEngine: parseChoice(dataEngine, DATA_ENGINES) }),
    ...(dataLocality === undefined ? {} : { dataLocality: parseChoice(dataLocality, DATA_LOCALITIES) }),
    ...(diskChoice === undefined ? {} : { replicaDiskChoice: parseChoice(diskChoice, DISK_CHOICES) }),
    ...(options.label === undefined ? {} : { labels: parseNewLabels(options.label) }),
    ...(options.project === undefined ? {} : { projectId: options.project }),
  };
}

function addList(volume: Command): void {
  volume
    .command('list')
    .option('--filter <filter>', 'such as "robustness=degraded AND size>1073741824"')
    .option('--sort <fields>', 'such as -size,name')
    .description('all volumes')
    .action(async (options: { filter?: string; sort?: string }, command: Command) => {
      const context = new Context(command);
      const [volumes, nodes] = await Promise.all([context.volumes(options), allNodesNow(context)]);
      const shown = volumes.map((one) => shownVolume(one, nodes.silent));
      // Tables show the stored state, in words of their own.
      const items = isForPeople(context.output) ? volumes : shown;
      print(formatList(items, columns(nodes, context.now), context.output));
    });
}

function addGet(volume: Command): void {
  volume
    .command('get')
    .argument('<volume>', 'name or id')
    .description('one volume, its copies and its address')
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const found = await context.volume(name);
      const nodes = await nodesOfVolume(context, found);
      const text = () => describeVolume(found, nodes, context.output);
      print(formatItem(shownVolume(found, nodes.silent), text, context.output));
    });
}

function addAttach(volume: Command): void {
  volume
    .command('attach')
    .argument('<volume>', 'name or id')
    .option('--node <node>', 'serve it there (default: a node that holds a copy)')
    .option('--no-wait', 'return before it is attached')
    .description('serve it over NBD, and print its address')
    .action(async (name: string, options: { node?: string; wait: boolean }, command: Command) => {
      const context = new Context(command);
      const path = await context.volumeKey(name);
      const body = options.node === undefined ? {} : { nodeId: (await context.node(options.node)).id };
      let current = await bodyOf(context.api.POST(`${VOLUME}/attach`, { params: { path }, body }));
      if (options.wait) {
        const tell = waitTeller(remark, Date.now);
        current = await waitFor(
          () => context.readVolume(path),
          (answer) => {
            if (isAttachDecided(answer)) return true;
            tell(answer);
            return false;
          },
          context.timeoutMs,
          'attaching',
        );
        if (current.endpoint === null) throw attentionError(current);
      }
      await printAttached(context, current);
    });
}

function addDetach(volume: Command): void {
  volume
    .command('detach')
    .argument('<volume>', 'name or id')
    .option('--force', 'do not wait for a holder that is dead')
    .option('--no-wait', 'return before it is detached')
    .description('flush and stop serving it')
    .action(async (name: string, options: { force?: boolean; wait: boolean }, command: Command) => {
      const context = new Context(command);
      const path = await context.volumeKey(name);
      const body = { force: options.force === true };
      let current = await bodyOf(context.api.POST(`${VOLUME}/detach`, { params: { path }, body }));
      if (options.wait) {
        const isDetachedOrWaits = (answer: Volume) => answer.state === 'detached' || needsPerson(answer);
        current = await waitFor(
          () => context.readVolume(path),
          isDetachedOrWaits,
          context.timeoutMs,
          'detaching',
        );
        if (current.state !== 'detached') throw attentionError(current);
      }
      print(formatItem(current, () => `${current.name}: ${current.state}`, context.output));
    });
}

function addExplain(volume: Command): void {
  volume
    .command('explain')
    .argument('<volume>', 'name or id')
    .description("reasons for its copies' places, and for a missing one, with cures")
    .action(async (nameOrId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const path = await context.volumeKey(nameOrId);
      const explained = await bodyOf(context.api.GET(`${VOLUME}/explain`, { params: { path } }));
      print(
        formatItem(explained, () => describeVolumeExplanation(explained, context.output), context.output),
      );
    });
}

function addDelete(volume: Command): void {
  volume
    .command('delete')
    .argument('<volumes...>', 'names or ids')
    .option('--no-wait', 'return before it is gone')
    .description('remove volumes and all their copies')
    .action(async (names: string[], options: { wait: boolean }, command: Command) => {
      const context = new Context(command);
      await context.each(names, async (name) => {
        const found = await context.volume(name);
        const path = keyOf(found);
        await context.confirm(`This deletes volume ${found.name} and all its copies for good`);
        await bodyOf(context.api.DELETE(VOLUME, { params: { path } }));
        if (options.wait) await waitUntilGone(context, path);
        remark(`${found.name} deleted`);
      });
    });
}

async function waitUntilGone(context: Context, path: VolumeKey): Promise<void> {
  const read = () => bodyIfFound(context.api.GET(VOLUME, { params: { path } }));
  await waitFor(read, (volume) => volume === undefined, context.timeoutMs, 'deleting');
}
