/** `node drain` and `node cancel-drain`: the plan beforehand, the drain itself, and waiting for its end. */
import { DRAIN_POLICIES, type DrainPolicy } from '@holdfast/core/model/node-drain.js';
import { type Command, Option } from 'commander';
import { bodyOf } from '../api.js';
import { Context, print, remark } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem } from '../output/format.js';
import { nodeLook } from '../output/states.js';
import type { Node } from '../types.js';
import { waitFor } from '../wait.js';
import { planText, waitLines } from './node-drain-text.js';

type Options = { policy?: DrainPolicy; plan?: true; wait?: true };
const NODE = '/clusters/{clusterId}/nodes/{nodeId}';

export function addDrain(node: Command): void {
  node
    .command('drain')
    .argument('<node>', 'name or id')
    .description(
      'take it out: cordon it, move the replicas that its policy names, and report when it may be switched off',
    )
    .addOption(
      new Option(
        '--policy <policy>',
        'when it may be switched off; default: the setting node-drain-policy',
      ).choices([...DRAIN_POLICIES]),
    )
    .option('--plan', 'only show what it would move, how long that takes, and the obstacles')
    .option('--wait', 'return when it is drained, or blocked (exit code 3), or after --timeout')
    .action(async (name: string, options: Options, command: Command) => {
      const context = new Context(command);
      const found = await context.node(name);
      const request = { params: { path: pathOf(found) }, body: bodyFor(options) };
      if (options.plan === true) {
        const plan = await bodyOf(context.api.POST(`${NODE}/drain-plan`, request));
        const nodes = new Map((await context.nodes()).map((one) => [one.id, one.name]));
        print(formatItem(plan, () => planText(found.name, plan, nodes), context.output));
        return;
      }
      const begun = await bodyOf(context.api.POST(`${NODE}/drain`, request));
      const now = options.wait === true ? await drained(context, begun) : begun;
      print(formatItem(now, () => `${now.name}: ${nodeLook(now).text}`, context.output));
      if (now.drain !== null) for (const line of waitLines(now.drain.waitingFor)) remark(line);
      if (options.wait === true && now.drain?.state === 'blocked')
        throw new CliError(EXIT.unsatisfied, `the drain of ${now.name} is blocked`);
    });
}

export function addCancelDrain(node: Command): void {
  node
    .command('cancel-drain')
    .argument('<node>', 'name or id')
    .description('end its drain; replicas that are still on it stay there')
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const found = await context.node(name);
      const params = { path: pathOf(found) };
      const changed = await bodyOf(context.api.POST(`${NODE}/cancel-drain`, { params, body: {} }));
      print(formatItem(changed, () => `${changed.name}: ${nodeLook(changed).text}`, context.output));
    });
}

function pathOf({ clusterId, id }: Node) {
  return { clusterId, nodeId: id };
}

function bodyFor({ policy }: Options): { policy?: DrainPolicy } {
  return policy === undefined ? {} : { policy };
}

/** The worker reconciles a drain every few seconds, so its first state says nothing yet. */
async function drained(context: Context, begun: Node): Promise<Node> {
  const requestedAt = begun.drain?.requestedAt;
  return waitFor(
    () => bodyOf(context.api.GET(NODE, { params: { path: pathOf(begun) } })),
    ({ drain }) => drain === null || drain.requestedAt !== requestedAt || drain.state !== 'draining',
    context.timeoutMs,
    `the drain of ${begun.name}`,
  );
}
