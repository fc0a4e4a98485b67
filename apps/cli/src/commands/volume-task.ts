import type { Command } from 'commander';
import { bodyOf, VOLUME } from '../api.js';
import { Context, keyOf, print, type VolumeKey } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem } from '../output/format.js';
import { parseSize } from '../output/quantities.js';
import type { Volume } from '../types.js';
import { waitFor } from '../wait.js';
import { find } from './find-snapshot.js';

/** Waits until the volume has no layer task any more. Fails with the reason of a task that was given up or cancelled. */
export async function waitForTask(context: Context, key: VolumeKey, what: string): Promise<Volume> {
  const { clusterId, volumeId } = key;
  const started = context.now;
  const done = await waitFor(
    () => context.readVolume(key),
    ({ task }) => task === null,
    context.timeoutMs,
    what,
  );
  const query = {
    filter: `volumeId=${volumeId} AND type in (VolumeTaskFailed, VolumeTaskCancelled)`,
    limit: 1,
  };
  const failures = await bodyOf(
    context.api.GET('/clusters/{clusterId}/events', { params: { path: { clusterId }, query } }),
  );
  const [failure] = failures.items;
  if (failure !== undefined && Date.parse(failure.at) >= started.getTime()) {
    throw new CliError(EXIT.conflict, failure.message);
  }
  return done;
}

export function addResize(volume: Command): void {
  volume
    .command('resize')
    .alias('expand')
    .argument('<volume>', 'name or id')
    .requiredOption('--size <size>', 'the new size: bytes, or with Ki, Mi, Gi, Ti')
    .option('--no-wait', 'return before all copies have grown')
    .description(
      'make a volume larger, attached or not; clients go on meanwhile (cancelled by: holdfast operation cancel)',
    )
    .action(async (name: string, options: { size: string; wait: boolean }, command: Command) => {
      const context = new Context(command);
      const path = await context.volumeKey(name);
      const body = { size: parseSize(options.size) };
      let grown = await bodyOf(context.api.POST(`${VOLUME}/expand`, { params: { path }, body }));
      if (options.wait) grown = await waitForTask(context, path, 'expanding');
      print(formatItem(grown, () => `${grown.name}: ${grown.size} bytes`, context.output));
    });
}

export function addRevert(volume: Command): void {
  volume
    .command('revert')
    .argument('<volume>', 'name or id')
    .argument('<snapshot>', 'name or id')
    .option('--no-wait', 'return before it is done')
    .description('make an attached volume read as it did then; no client may be connected')
    .action(async (name: string, snapshot: string, options: { wait: boolean }, command: Command) => {
      const context = new Context(command);
      const { found, path } = await find(context, name, snapshot);
      const body = { snapshotId: found.id };
      await context.confirm(`Writes to ${name} since snapshot ${found.name} are lost`);
      let reverted = await bodyOf(context.api.POST(`${VOLUME}/revert`, { params: { path }, body }));
      if (options.wait) reverted = await waitForTask(context, path, 'reverting');
      print(formatItem(reverted, () => `${reverted.name}: reads as snapshot ${found.name}`, context.output));
    });
}

export function addClone(volume: Command): void {
  volume
    .command('clone')
    .argument('<volume>', 'name or id')
    .argument('<snapshot>', 'name or id')
    .argument('<name>', 'of the new volume')
    .option('--size <size>', "at least the source's, which is the default")
    .option('--no-wait', 'return before it is filled')
    .description('make a volume with the content of a snapshot')
    .action(
      async (
        source: string,
        snapshot: string,
        name: string,
        options: { size?: string; wait: boolean },
        command: Command,
      ) => {
        const context = new Context(command);
        const { found, path } = await find(context, source, snapshot);
        const size = options.size === undefined ? {} : { size: parseSize(options.size) };
        const body = { snapshotId: found.id, name, ...size };
        let made = await bodyOf(context.api.POST(`${VOLUME}/clone`, { params: { path }, body }));
        const key = keyOf(made);
        const read = () => context.readVolume(key);
        const isFilled = ({ fill, state }: Volume) => fill === null && state === 'detached';
        if (options.wait) made = await waitFor(read, isFilled, context.timeoutMs, 'filling the clone');
        print(formatItem(made, () => `${made.name}: ${made.state}`, context.output));
      },
    );
}
