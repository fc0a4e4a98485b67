/** `node join-token` and related commands: how agents get and lose the identity of a node. */
import {
  apiAddress,
  GUESSED_ADDRESS,
  JOIN_PLACE,
  JOIN_WAYS,
  type JoinPlan,
  type JoinWay,
  joinCommand,
  USUAL_NODE,
  wrongWithPlan,
} from '@holdfast/access/join-commands.js';
import { type Command, Option } from 'commander';
import { bodyOf, doneOf, itemsOf } from '../api.js';
import { Context, print, remark } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList, isForPeople } from '../output/format.js';
import { given } from '../output/options.js';
import { age, parseDurationMs } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { JoinToken } from '../types.js';

const TOKENS = '/clusters/{clusterId}/join-tokens';
const MINUTE_MS = 60_000;

/** Placeholders for values that the user has not given; a line below the command asks to replace them. */
const NODE_NAME = 'NODE_NAME';
const NODE_ADDRESS = 'NODE_ADDRESS';

type PlanOptions = { node?: string; host?: string; zone?: string };
type JoinTokenOptions = PlanOptions & { uses?: number; for?: string; name?: string; way: JoinWay };

export function addJoinToken(node: Command): void {
  node
    .command('join-token')
    .description(
      'make a token with which an agent joins, and print the command that starts the agent with it',
    )
    .option('--node <name>', 'only for this node, which may have joined before; its old certificate ends')
    .option('--uses <count>', 'nodes of new names that may join with it (1)', Number)
    .option('--for <duration>', 'how long it is good, such as 30m or 4h (1h); 7 days at most')
    .option('--name <text>', 'what to call it')
    .addOption(
      new Option('--way <way>', 'how the agent runs, for the command')
        .choices([...JOIN_WAYS])
        .default('shell'),
    )
    .option('--host <address>', 'of the node as clients and other nodes reach it, for the command')
    .option('--zone <zone>', 'of the node, for the command')
    .action(async (options: JoinTokenOptions, command: Command) => {
      const context = new Context(command);
      refuseWrong(options);
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
      // On stderr: a script takes the token, and has a way of its own to start the agent.
      if (isForPeople(context.output))
        for (const line of startLines(options, made, context.connection.apiUrl)) remark(line);
    });
}

/** @throws CliError for a value that a command can not hold, before a token is made */
function refuseWrong(options: JoinTokenOptions): void {
  const wrong = wrongWithPlan({ ...planOf(options), apiUrl: '' }, options.way);
  const said = { node: wrong.nodeName, host: wrong.host, zone: wrong.zone };
  for (const option of ['node', 'host', 'zone'] as const)
    if (options[option] !== undefined && said[option] !== undefined)
      throw new CliError(EXIT.usage, `--${option} ${options[option]}: ${said[option]}`);
}

/** The command as the console shows it, with the same words; the address that this command uses stands where the API knows none. */
export function startLines(
  options: PlanOptions & { way: JoinWay },
  { token, apiUrl }: { token: string; apiUrl: string | null },
  guess: string,
): string[] {
  const { way } = options;
  const address = apiAddress('', apiUrl, guess);
  const plan = { ...planOf(options), apiUrl: address.url };
  const places = [NODE_NAME, ...(way === 'compose' ? [] : [NODE_ADDRESS])].filter((word) =>
    Object.values(plan).includes(word),
  );
  return [
    '',
    JOIN_PLACE[way],
    joinCommand(way, plan, token),
    ...(places.length === 0 ? [] : [`Put the node's own in place of ${places.join(' and ')}.`]),
    ...(way !== 'compose' && address.from === 'guess' ? [`${address.url} ${GUESSED_ADDRESS}`] : []),
  ];
}

function planOf({ node = NODE_NAME, host = NODE_ADDRESS, zone = '' }: PlanOptions): Omit<JoinPlan, 'apiUrl'> {
  return { ...USUAL_NODE, nodeName: node, host, zone };
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
