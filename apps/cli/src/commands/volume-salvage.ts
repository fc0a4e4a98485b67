import { formatBytes } from '@holdfast/core/model/bytes.js';
import type { Command } from 'commander';
import { bodyOf, VOLUME } from '../api.js';
import { Context, print, type VolumeKey } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList } from '../output/format.js';
import { age } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { SalvageAdvice, Volume } from '../types.js';
import { waitFor } from '../wait.js';
import { printAttached } from './volume-attached.js';

type Copy = SalvageAdvice['copies'][number];

function columns(now: Date): Column<Copy>[] {
  return [
    { header: 'advised', cell: ({ isAdvised }) => (isAdvised ? '✓' : '') },
    { header: 'node', cell: ({ nodeName }) => nodeName },
    { header: 'copy is', cell: ({ verdict }) => verdict },
    {
      header: 'record',
      cell: ({ record }) => (record === null ? '-' : `${record.epoch}.${record.dataGeneration}`),
    },
    { header: 'written', cell: ({ writtenBytes }) => formatBytes(writtenBytes), align: 'right' },
    { header: 'unequal', cell: ({ isUnequal }) => (isUnequal ? 'maybe' : '') },
    {
      header: 'heard',
      cell: ({ lastHeardAt }) => (lastHeardAt === null ? '-' : `${age(lastHeardAt, now)} ago`),
      align: 'right',
    },
    { header: 'replica id', cell: ({ replicaId }) => replicaId },
  ];
}

export function addSalvage(volume: Command): void {
  volume
    .command('salvage')
    .argument('<volume>', 'name or id')
    .option('--copies <ids>', 'replica ids with commas between; default: those that are advised')
    .option('--no-wait', 'return before it is attached')
    .description('which copies a volume could go on with when too few of them answer; with --yes it does')
    .action(async (name: string, options: Options, command: Command) => {
      const context = new Context(command);
      const path = await context.volumeKey(name);
      const advice = await readAdvice(context, path);
      if (!context.isSure) {
        print(formatItem(advice, () => describe(advice, context), context.output));
        return;
      }
      const body = options.copies === undefined ? {} : { replicaIds: options.copies.split(',') };
      let current = await bodyOf(context.api.POST(`${VOLUME}/salvage`, { params: { path }, body }));
      if (options.wait) current = await waitUntilServed(context, path);
      await printAttached(context, current);
    });
}

type Options = { copies?: string; wait: boolean };

function readAdvice(context: Context, path: VolumeKey): Promise<SalvageAdvice> {
  return bodyOf(context.api.GET(`${VOLUME}/salvage`, { params: { path } }));
}

async function waitUntilServed(context: Context, path: VolumeKey): Promise<Volume> {
  const isOver = async () => (await readAdvice(context, path)).requestedAt === null;
  await waitFor(isOver, (over) => over, context.timeoutMs, 'salvaging');
  const isDecided = ({ state, attention }: Volume) =>
    state === 'attached' || (attention !== null && attention.cures.length > 0);
  const current = await waitFor(() => context.readVolume(path), isDecided, context.timeoutMs, 'attaching');
  if (current.state === 'attached') return current;
  throw new CliError(EXIT.conflict, current.attention?.message ?? '', current.attention?.cures);
}

function describe(advice: SalvageAdvice, context: Context): string {
  const table = formatList(advice.copies, columns(context.now), context.output);
  const verdict = advice.isPossible
    ? [`With the advised copies: ${advice.risk}.`, 'Add --yes to go on with them.']
    : [`It can't be salvaged: ${advice.reason}.`, ...advice.cures.map((cure) => `  - ${cure}`)];
  return [table, '', ...verdict].join('\n');
}
