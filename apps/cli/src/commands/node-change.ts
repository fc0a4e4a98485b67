/** `node set`, `node delete` and `node forget`: labels and switches of a node, and its end. */
import type { Command } from 'commander';
import { bodyOf, doneOf } from '../api.js';
import { Context, print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { parseSwitch } from '../output/choices.js';
import { formatItem } from '../output/format.js';
import { parseLabels } from '../output/labels.js';
import { collect, given } from '../output/options.js';
import { nodeLook } from '../output/states.js';
import type { Node } from '../types.js';

const NODE = '/clusters/{clusterId}/nodes/{nodeId}';
/** Takes a label off. */
const NO_LABEL = 'none';

type SetOptions = {
  scheduling?: boolean;
  evict?: boolean;
  zone?: string;
  region?: string;
  tag?: string[];
  clearTags?: true;
  label?: string[];
};

export function addNodeSet(node: Command): void {
  node
    .command('set')
    .argument('<node>', 'name or id')
    .description('change its labels and switches')
    .option('--scheduling <on|off>', 'whether new replicas may come', parseSwitch)
    .option('--evict <on|off>', 'evict its replicas; on switches scheduling off', parseSwitch)
    .option('--zone <zone>', `failure domain; ${NO_LABEL} takes the label off`)
    .option('--region <region>', `larger failure domain; ${NO_LABEL} takes the label off`)
    .option('--tag <tag>', 'replaces its tags; may be given again', collect)
    .option('--clear-tags', 'take all of its tags off')
    .option('--label <labels...>', 'key=value sets a label, key- takes it off; others stay')
    .action(async (name: string, options: SetOptions, command: Command) => {
      const context = new Context(command);
      const { scheduling, evict, zone, region, tag, clearTags, label } = options;
      const body = given({
        allowScheduling: scheduling ?? (evict === true ? false : undefined),
        evictionRequested: evict,
        zone: labelOf(zone),
        region: labelOf(region),
        tags: clearTags === true ? [] : tag,
        labels: label === undefined ? undefined : parseLabels(label),
      });
      if (Object.keys(body).length === 0) throw new CliError(EXIT.usage, 'name the change: see --help');
      const { clusterId, id: nodeId } = await context.node(name);
      const changed = await bodyOf(
        context.api.PATCH(NODE, { params: { path: { clusterId, nodeId } }, body }),
      );
      print(formatItem(changed, () => `${changed.name}: ${nodeLook(changed).text}`, context.output));
    });
}

export function addNodeDelete(node: Command): void {
  node
    .command('delete')
    .argument('<node>', 'name or id')
    .description('forget a node that is gone for good and holds no replica')
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const { clusterId, id: nodeId, name: called } = await context.node(name);
      await context.confirm(`This forgets node ${called}`);
      await doneOf(context.api.DELETE(NODE, { params: { path: { clusterId, nodeId } } }));
      print(`${called} is forgotten`);
    });
}

export function addNodeForget(node: Command): void {
  node
    .command('forget')
    .argument('<node>', 'name or id')
    .description(
      'declare it gone for good: revoke its certificate, give up its copies, build others, and delete it in the end',
    )
    .option('--lose <volumes...>', 'volumes whose data on this node only may be lost', [])
    .action(async (name: string, { lose }: { lose: string[] }, command: Command) => {
      const context = new Context(command);
      const { clusterId, id: nodeId, name: called } = await context.node(name);
      const acceptLossOf: string[] = [];
      for (const volume of lose) acceptLossOf.push((await context.volume(volume)).id);
      const loss = lose.length === 0 ? '' : `, and what only it holds of ${lose.join(', ')} is lost`;
      await context.confirm(
        `This gives up all copies on node ${called}; should it return, it is not let in${loss}`,
      );
      const request = { params: { path: { clusterId, nodeId } }, body: { acceptLossOf } };
      const begun = await bodyOf(context.api.POST(`${NODE}/forget`, request));
      print(formatItem(begun, () => forgetText(begun), context.output));
    });
}

function forgetText({ name, replicas }: Node): string {
  const copies = replicas === 1 ? '1 copy' : `${replicas} copies`;
  return `${name} is being forgotten: ${copies} on it given up; it leaves the list of nodes when no volume refers to it`;
}

function labelOf(given: string | undefined): string | null | undefined {
  return given === NO_LABEL ? null : given;
}
