import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { bodyOf } from '../api.js';
import { Context, print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem } from '../output/format.js';
import { parseSize } from '../output/quantities.js';
import { type SimulateOptions, simulateBody } from './simulation-request.js';
import { describeSimulation } from './simulation-text.js';

const EXAMPLES = `
Examples
  holdfast placement simulate --count 20 --size 100Gi --replicas 3
  holdfast placement simulate --lose-zone zone-a
  holdfast what-if --drain node-3,policy=block-for-eviction --set concurrent-replica-rebuild-per-node-limit=2
  holdfast placement simulate --count 5 --size 1Ti --add-node big,zone=zone-d,disks=4x2Ti --how-many-more
  holdfast placement simulate --count 5 --size 1Ti --add-disk node-1,size=2Ti,count=2
  holdfast placement simulate --size 10Gi --set storage-over-provisioning-percentage=200
  holdfast placement simulate -f what-if.yaml

A file is the body of POST …/placements/simulate in YAML or JSON; sizes may be written as 10Gi.
Ends with 0 when all fit and every existing copy finds a place, else with 3. Nothing is changed.`;

/** Fields of a request body that are sizes. */
const SIZES = new Set(['size', 'reserved']);

export function placementCommand(): Command {
  const placement = new Command('placement');
  simulateOn(placement.command('simulate')).description('effects of a change; nothing is changed');
  return placement;
}

/** The same question at the top, where an operator who wonders looks for it. */
export function whatIfCommand(): Command {
  return simulateOn(new Command('what-if'));
}

function simulateOn(command: Command): Command {
  return command
    .option('--size <size>', 'size of new volumes, such as 10Gi')
    .option('--count <n>', 'how many of them (default: 1)')
    .option('--replicas <n>', 'copies of each')
    .option('--node-selector <tags...>', 'only nodes that have all these tags')
    .option('--disk-selector <tags...>', 'only disks that have all these tags')
    .option('--lose-node <nodes...>', 'as if these nodes were gone')
    .option('--lose-zone <zones...>', 'as if all nodes of these zones were gone')
    .option('--lose-disk <disks...>', 'as if these disks were gone: id, or node/disk')
    .option('--add-node <nodes...>', 'as if there were more: name,zone=z,disks=2x1Ti,count=3,tags=a+b')
    .option('--add-disk <disks...>', 'as if nodes had more disks: node,size=1Ti,count=2,type=block,tags=a+b')
    .option('--drain <nodes...>', 'as if these nodes were drained: node, or node,policy=block-for-eviction')
    .option('--set <settings...>', 'as if settings had other values: name=value')
    .option('--how-many-more', 'also count how many more would fit')
    .option('-f, --file <file>', 'the whole question from a file, instead of the options above')
    .addHelpText('after', EXAMPLES)
    .action(async (options: SimulateOptions & { file?: string }, command: Command) => {
      const context = new Context(command);
      const request =
        options.file === undefined ? { body: simulateBody(options) } : await requestFrom(options.file);
      const params = { path: { clusterId: await context.clusterId() } };
      const result = await bodyOf(
        context.api.POST('/clusters/{clusterId}/placements/simulate', { params, ...request }),
      );
      print(formatItem(result, () => describeSimulation(result, context.output), context.output));
      // The output has said what does not fit.
      if (!result.allFit) process.exitCode = EXIT.unsatisfied;
    });
}

/** A file's content as a request body. It is sent unchecked: the API reports errors in it. */
async function requestFrom(file: string) {
  const content = await objectFrom(file);
  return { body: {}, bodySerializer: () => JSON.stringify(content) };
}

async function objectFrom(file: string): Promise<object> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new CliError(EXIT.usage, `${file} can't be read: ${error.message}`);
  });
  const body = await parseYaml(text, file);
  if (typeof body !== 'object' || body === null) {
    throw new CliError(EXIT.usage, `${file} holds no question`, ['see: holdfast placement simulate --help']);
  }
  return body;
}

async function parseYaml(text: string, file: string): Promise<unknown> {
  const { parse } = await import('../output/yaml-library.js');
  try {
    return parse(text, (key, value) =>
      SIZES.has(String(key)) && typeof value === 'string' ? parseSize(value) : value,
    );
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(
      EXIT.usage,
      `${file} is neither YAML nor JSON: ${error instanceof Error ? error.message : ''}`,
    );
  }
}
