import { Command } from 'commander';
import { bodyOf } from '../api.js';
import { Context, print } from '../context.js';
import { formatItem, formatList } from '../output/format.js';
import { labelsText } from '../output/labels.js';
import { age, parseDurationMs } from '../output/quantities.js';
import { nodeLook } from '../output/states.js';
import type { Column } from '../output/table.js';
import type { Node } from '../types.js';
import { addNodeDelete, addNodeForget, addNodeSet } from './node-change.js';
import { addCancelDrain, addDrain } from './node-drain.js';
import { addDeleteJoinToken, addJoinToken, addJoinTokens, addRevokeIdentity } from './node-join.js';

function columns(now: Date): Column<Node>[] {
  return [
    { header: 'name', cell: (node) => node.name },
    { header: 'status', cell: (node) => nodeLook(node).text, tone: (node) => nodeLook(node).tone },
    { header: 'zone', cell: (node) => node.zone ?? '-' },
    { header: 'tags', cell: (node) => node.tags.join(',') || '-' },
    {
      header: 'heard',
      cell: (node) => (node.lastHeartbeatAt === null ? 'never' : `${age(node.lastHeartbeatAt, now)} ago`),
    },
    { header: 'id', cell: (node) => node.id, wide: true },
    { header: 'labels', cell: (node) => labelsText(node.labels), wide: true },
  ];
}

export function nodeCommand(): Command {
  const node = new Command('node');
  node
    .command('list')
    .description('all nodes and whether they answer')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      print(formatList(await context.nodes(), columns(context.now), context.output));
    });
  node
    .command('get')
    .argument('<node>', 'name or id')
    .description('one node')
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const found = await context.node(name);
      print(
        formatItem(found, () => formatList([found], columns(context.now), context.output), context.output),
      );
    });
  addAction(node, 'cordon', 'take no new replicas there; those on it stay');
  addAction(node, 'uncordon', 'take new replicas there again');
  addDrain(node);
  addCancelDrain(node);
  addNodeSet(node);
  addNodeDelete(node);
  addNodeForget(node);
  addJoinToken(node);
  addJoinTokens(node);
  addDeleteJoinToken(node);
  addRevokeIdentity(node);
  addMaintenance(node);
  addAction(node, 'end-maintenance', 'end its maintenance window before its time');
  return node;
}

function addAction(
  node: Command,
  verb: 'cordon' | 'uncordon' | 'end-maintenance',
  description: string,
): void {
  node
    .command(verb)
    .argument('<node>', 'name or id')
    .description(description)
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const found = await context.node(name);
      const params = { path: { clusterId: found.clusterId, nodeId: found.id } };
      const path = `/clusters/{clusterId}/nodes/{nodeId}/${verb}` as const;
      const changed = await bodyOf(context.api.POST(path, { params, body: {} }));
      print(formatItem(changed, () => `${changed.name}: ${nodeLook(changed).text}`, context.output));
    });
}

function addMaintenance(node: Command): void {
  node
    .command('maintenance')
    .argument('<node>', 'name or id')
    .description('open a window in which copies on this node are waited for, not rebuilt elsewhere')
    .requiredOption('--for <duration>', 'how long from now, such as 30m or 4h; 7 days at most')
    .option('--reason <text>', 'shown wherever the window is', '')
    .action(async (name: string, options: { for: string; reason: string }, command: Command) => {
      const context = new Context(command);
      const until = new Date(context.now.getTime() + parseDurationMs(options.for)).toISOString();
      const found = await context.node(name);
      const params = { path: { clusterId: found.clusterId, nodeId: found.id } };
      const body = { until, reason: options.reason };
      const changed = await bodyOf(
        context.api.POST('/clusters/{clusterId}/nodes/{nodeId}/maintenance', { params, body }),
      );
      print(formatItem(changed, () => `${changed.name}: ${nodeLook(changed).text}`, context.output));
    });
}
