import { Command } from 'commander';
import { bodyOf, doneOf, itemsOf } from '../api.js';
import { risksOf } from '../cluster-risks.js';
import { Context, print, printLine } from '../context.js';
import { findNamed } from '../find-named.js';
import { capacityText } from '../output/capacity.js';
import { clusterColumns } from '../output/clusters.js';
import { formatItem, formatList } from '../output/format.js';
import { parseCount } from '../output/quantities.js';
import { riskText } from '../output/risk.js';
import type { Cluster } from '../types.js';

const CLUSTER = '/clusters/{clusterId}';

export function clusterCommand(): Command {
  const cluster = new Command('cluster');
  cluster
    .command('list')
    .description('all clusters')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      const found = await itemsOf((query) => context.api.GET('/clusters', { params: { query } }));
      print(formatList(found, clusterColumns(await risksOf(context, found)), context.output));
    });
  cluster
    .command('get')
    .argument('<cluster>', 'name or id')
    .description('one cluster')
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      await show(await find(context, name), context);
    });
  cluster
    .command('risk')
    .argument('[cluster]', 'name or id; left out: the one in use')
    .description('volumes that are not healthy, by cause, and whether work under way ends that')
    .action(async (name: string | undefined, _options: object, command: Command) => {
      const context = new Context(command);
      const clusterId = await idOf(context, name);
      const risk = await bodyOf(context.api.GET(`${CLUSTER}/risk`, { params: { path: { clusterId } } }));
      print(formatItem(risk, () => riskText(risk, context.now), context.output));
    });
  cluster
    .command('capacity')
    .argument('[cluster]', 'name or id; left out: the one in use')
    .option('--days <number>', 'how far back the samples go', parseCount, 2)
    .description('when the cluster will be full, and how full it was')
    .action(async (name: string | undefined, { days }: { days: number }, command: Command) => {
      const context = new Context(command);
      const params = { path: { clusterId: await idOf(context, name) }, query: { days } };
      const found = await bodyOf(context.api.GET(`${CLUSTER}/capacity`, { params }));
      print(formatItem(found, () => capacityText(found, context.output), context.output));
    });
  cluster
    .command('create')
    .argument('<name>', 'unique in the organization')
    .description('make a cluster without nodes')
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const created = await bodyOf(context.api.POST('/clusters', { body: { name } }));
      printLine(context, created, `${created.name}: created, ${created.id}`);
    });
  cluster
    .command('rename')
    .argument('<cluster>', 'name or id')
    .argument('<name>', 'unique in the organization')
    .description('give a cluster another name')
    .action(async (nameOrId: string, name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const path = { clusterId: (await find(context, nameOrId)).id };
      const renamed = await bodyOf(context.api.PATCH(CLUSTER, { params: { path }, body: { name } }));
      printLine(context, renamed, `${renamed.name}: renamed`);
    });
  cluster
    .command('delete')
    .argument('<cluster>', 'name or id')
    .description('delete a cluster that holds nothing')
    .action(async (nameOrId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const found = await find(context, nameOrId);
      await context.confirm(`This deletes cluster ${found.name}`);
      await doneOf(context.api.DELETE(CLUSTER, { params: { path: { clusterId: found.id } } }));
      print(formatItem(found, () => `${found.name}: is gone`, context.output));
    });
  return cluster;
}

/** @param name of a cluster, or its id; `undefined` for the one in use */
async function idOf(context: Context, name: string | undefined): Promise<string> {
  return name === undefined ? context.clusterId() : (await find(context, name)).id;
}

function find(context: Context, nameOrId: string): Promise<Cluster> {
  return findNamed(nameOrId, {
    kind: 'cluster',
    byId: (clusterId) => context.api.GET(CLUSTER, { params: { path: { clusterId } } }),
    byFilter: (query) => context.api.GET('/clusters', { params: { query } }),
  });
}

async function show(cluster: Cluster, context: Context): Promise<void> {
  const columns = clusterColumns(await risksOf(context, [cluster]));
  print(formatItem(cluster, () => formatList([cluster], columns, context.output), context.output));
}
