import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Command } from 'commander';
import { bodyOf, itemsOf } from '../api.js';
import { Context, print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList } from '../output/format.js';
import { age } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { Orphan } from '../types.js';

function columns(now: Date): Column<Orphan>[] {
  return [
    { header: 'node', cell: ({ nodeName }) => nodeName },
    { header: 'disk', cell: ({ diskName }) => diskName },
    { header: 'of', cell: ({ volumeName }) => volumeName ?? 'a volume that is gone' },
    { header: 'size', cell: ({ size }) => formatBytes(size), align: 'right' },
    { header: 'seen for', cell: ({ firstSeenAt }) => age(firstSeenAt, now), align: 'right' },
    { header: 'note', cell: noteOf },
    { header: 'id', cell: ({ id }) => id },
    { header: 'copy', cell: ({ replicaId }) => replicaId, wide: true },
    { header: 'volume id', cell: ({ volumeId }) => volumeId, wide: true },
  ];
}

function noteOf({ error, isReachable, state }: Orphan): string {
  if (error !== null) return error;
  if (state === 'removing') return 'is being removed';
  return isReachable ? '' : 'its disk does not answer';
}

export function orphanCommand(): Command {
  const orphan = new Command('orphan');
  orphan
    .command('list')
    .description('all orphans, the oldest first')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      const path = { clusterId: await context.clusterId() };
      const found = await itemsOf((query) =>
        context.api.GET('/clusters/{clusterId}/orphans', { params: { path, query } }),
      );
      print(formatList(found, columns(context.now), context.output));
    });
  orphan
    .command('get')
    .argument('<orphan>', 'id')
    .description('one orphan')
    .action(async (id: string, _options: object, command: Command) => {
      const context = new Context(command);
      const found = await bodyOf(context.api.GET(ORPHAN, await at(context, id)));
      const text = () => formatList([found], columns(context.now), context.output);
      print(formatItem(found, text, context.output));
    });
  orphan
    .command('delete')
    .argument('<orphans...>', 'ids')
    .description('remove orphans and their data from their disks')
    .action(async (ids: string[], _options: object, command: Command) => {
      const context = new Context(command);
      await context.each(ids, async (id) => {
        const address = await at(context, id);
        const found = await bodyOf(context.api.GET(ORPHAN, address));
        if (!context.isSure) throw unconfirmed(found);
        await bodyOf(context.api.DELETE(ORPHAN, address));
        print(formatItem({ ...found, state: 'removing' }, () => `${id}: is being removed`, context.output));
      });
    });
  return orphan;
}

function unconfirmed({ diskName, nodeName, size, volumeName }: Orphan): CliError {
  const whose = volumeName === null ? 'a volume that is gone' : `volume ${volumeName}, which still exists`;
  return new CliError(
    EXIT.usage,
    `this removes ${formatBytes(size)} of ${whose} from ${nodeName}, disk ${diskName}, for good`,
    ['add --yes to do it'],
  );
}

const ORPHAN = '/clusters/{clusterId}/orphans/{orphanId}';

async function at(context: Context, orphanId: string) {
  return { params: { path: { clusterId: await context.clusterId(), orphanId } } };
}
