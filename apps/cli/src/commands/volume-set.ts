import type { Command } from 'commander';
import { Context, print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem } from '../output/format.js';
import { parseCount } from '../output/quantities.js';
import type { Volume } from '../types.js';

type SetOptions = {
  replicas?: string;
  snapshotDataIntegrity?: string;
  snapshotMaxCount?: string;
  offlineRebuilding?: string;
};

/** Changes what is wanted of a volume; only what is named. */
export function addSet(volume: Command): void {
  volume
    .command('set')
    .argument('<volume>', 'name or id')
    .option('--replicas <n>', 'copies to keep')
    .option(
      '--snapshot-data-integrity <mode>',
      'ignored (as the cluster says), disabled, enabled (in full) or fast-check',
    )
    .option('--snapshot-max-count <n>', 'snapshots it may have; 0: as the cluster says')
    .option('--offline-rebuilding <mode>', 'ignored (as the cluster says), enabled or disabled')
    .description('change what is wanted of a volume')
    .action(async (name: string, options: SetOptions, command: Command) => {
      const context = new Context(command);
      const body = patchBody(options);
      if (Object.keys(body).length === 0) throw new CliError(EXIT.usage, 'nothing to set was named');
      const { id } = await context.volume(name);
      const changed = await context.api.patch<Volume>(`${await context.clusterPath()}/volumes/${id}`, body);
      print(formatItem(changed, () => `${changed.name}: set`, context.output));
    });
}

function patchBody(options: SetOptions): object {
  const { replicas, snapshotDataIntegrity, snapshotMaxCount, offlineRebuilding } = options;
  return {
    ...(replicas === undefined ? {} : { numberOfReplicas: parseCount(replicas) }),
    ...(snapshotDataIntegrity === undefined ? {} : { snapshotDataIntegrity }),
    ...(snapshotMaxCount === undefined ? {} : { snapshotMaxCount: parseCount(snapshotMaxCount) }),
    ...(offlineRebuilding === undefined ? {} : { offlineRebuilding }),
  };
}
