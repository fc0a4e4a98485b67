/** `node join-token` and what belongs to it: how agents come to speak for nodes, and how that ends. */
import type { Command } from 'commander';
import { bodyOf, doneOf, itemsOf } from '../api.js';
import { Context, print } from '../context.js';
import { formatItem, formatList } from '../output/format.js';
import { given } from '../output/options.js';
import { age, parseDurationMs } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { JoinToken } from '../types.js';

const TOKENS = '/clusters/{clusterId}/join-tokens';
const MINUTE_MS = 60_000;

type JoinTokenOptions = { node?: string; uses?: number; for?: string; name?: string };

export function addJoinToken(node: Command): void {
  node
    .command('join-token')
    .description('make a token with which an agent joins; give it to the agent as HOLDFAST_AGENT_TOKEN')
    .option('--node <name>', 'only for this node, which may have joined before; its old certificate ends')
    .option('--uses <count>', 'nodes of new names that may join with it (1)', Number)
    .option('--for <duration>', 'how long it is good, such as 30m or 4h (1h); 7 days at most')
    .option('--name <text>', 'what to call it')
    .action(async (options: JoinTokenOptions, command: Command) => {
      const context = new Context(command);
      const life =
        options.for === undefined ? undefined : Math.ceil(parseDurationMs(options.for) / MINUTE_MS);
      const body = given({
        nodeName: options.node,
        usesMax: options.uses,
        lifeMinutes: life,
        name: options.name,
      });
      const path = { clusterId: await context.clusterId() };
      const made = await bodyOf(context.api.POST(TOKENS, { params: { path }, body }));
      print(formatItem(made, () => made.token, context.output));
    });
}

function columns(now: Date): Column<JoinToken>[] {
  return [
    { header: 'name', cell: ({ name }) => name },
    { header: 'node', cell: ({ nodeName }) => nodeName ?? 'any new one' },
    { header: 'used', cell: ({ uses, usesMax }) => `${uses} of ${usesMax}` },
    { header: 'ends', cell: ({ expiresAt }) => expiresAt ?? 'never' },
    { header: 'age', cell: ({ createdAt }) => age(createdAt, now) },
    { header: 'id', cell: ({ id }) => id },
  ];
}

export function addJoinTokens(node: Command): void {
  node
    .command('join-tokens')
    .description('the join tokens of the cluster, without their secrets')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      const path = { clusterId: await context.clusterId() };
      const tokens = await itemsOf((query) => context.api.GET(TOKENS, { params: { path, query } }));
      print(formatList(tokens, columns(context.now), context.output));
    });
}

export function addDeleteJoinToken(node: Command): void {
  node
    .command('delete-join-token')
    .argument('<id>', 'id of the join token')
    .description('end a join token; nodes that have joined with it stay')
    .action(async (joinTokenId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const path = { clusterId: await context.clusterId(), joinTokenId };
      await doneOf(context.api.DELETE(`${TOKENS}/{joinTokenId}`, { params: { path } }));
      print('the join token is deleted');
    });
}

export function addRevokeIdentity(node: Command): void {
  node
    .command('revoke-identity')
    .argument('<node>', 'name or id')
    .description('take the certificate of its agent back; it is not heard before it joins again')
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const { clusterId, id: nodeId, name: called } = await context.node(name);
      const path = '/clusters/{clusterId}/nodes/{nodeId}/revoke-identity';
      await doneOf(context.api.POST(path, { params: { path: { clusterId, nodeId } } }));
      print(
        `${called}: its certificate is revoked; to let it in again: holdfast node join-token --node ${called}`,
      );
    });
}
