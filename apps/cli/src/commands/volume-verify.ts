import type { Command } from 'commander';
import { bodyOf, VOLUME } from '../api.js';
import { Context, keyOf, print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { nodesOfVolume } from '../nodes-now.js';
import { formatItem } from '../output/format.js';
import type { Verification } from '../types.js';
import { waitFor } from '../wait.js';
import { describeVerification } from './volume-text.js';

export function addVerify(volume: Command): void {
  volume
    .command('verify')
    .argument('<volume>', 'name or id')
    .description('read every copy of a detached volume and compare; exit code 3 when they differ')
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const found = await context.volume(name);
      const path = keyOf(found);
      const started = await bodyOf(context.api.POST(`${VOLUME}/verify`, { params: { path }, body: {} }));
      const read = async (): Promise<Verification> =>
        (await context.readVolume(path)).verification ?? started;
      const done =
        started.state === 'running'
          ? await waitFor(read, (answer) => answer.state !== 'running', context.timeoutMs, 'verifying')
          : started;
      const nodes = await nodesOfVolume(context, found);
      print(formatItem(done, () => describeVerification(found, done, nodes), context.output));
      if (done.equal !== true) throw new CliError(EXIT.unsatisfied, done.message);
    });
}

export function addCancelVerify(volume: Command): void {
  volume
    .command('cancel-verify')
    .argument('<volume>', 'name or id')
    .description('end the comparison of its copies')
    .action(async (nameOrId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const path = await context.volumeKey(nameOrId);
      const volume = await bodyOf(
        context.api.POST(`${VOLUME}/cancel-verify`, { params: { path }, body: {} }),
      );
      const text = () => `the copies of ${volume.name} are not being compared`;
      print(formatItem(volume, text, context.output));
    });
}

export function addAcceptCopies(volume: Command): void {
  volume
    .command('accept-copies')
    .argument('<volume>', 'name or id')
    .requiredOption('--copies <ids>', 'replica ids, separated by commas: those that you know to be right')
    .description('go on with some copies of a detached volume whose copies differ without a majority')
    .action(async (name: string, options: { copies: string }, command: Command) => {
      const context = new Context(command);
      const path = await context.volumeKey(name);
      const body = { replicaIds: options.copies.split(',') };
      await context.confirm(
        `The other copies of ${name}, with data that only they hold, are given up for good`,
      );
      const accepted = await bodyOf(context.api.POST(`${VOLUME}/accept-copies`, { params: { path }, body }));
      const text = () =>
        `${accepted.name}: the next attach goes on with the named copies, and rebuilds the others`;
      print(formatItem(accepted, text, context.output));
    });
}
