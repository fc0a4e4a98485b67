import { Command } from 'commander';
import { localHome, readLocal } from '../connection.js';
import { print } from '../context.js';
import { orderAgent } from '../local-scenario/order-agent.js';
import { formatItem, type OutputOptions, parseFormat } from '../output/format.js';

export function localCommand(): Command {
  const local = new Command('local');
  local
    .command('start-agent')
    .argument('<node>', 'such as node-1; a new name adds a node')
    .description('start an agent that died, or a new one, and wait until its node is Ready')
    .action(async (name: string, _options: object, command: Command) => {
      const stack = readLocal(process.env);
      const agent = await orderAgent(stack.controlSocket, name);
      const output = outputOf(command);
      print(formatItem(agent, () => `${agent.name} is ready in ${agent.zone}, pid ${agent.pid}`, output));
    });
  local
    .command('status')
    .description('where the stack is and which agents it runs')
    .action((_options: object, command: Command) => {
      const { apiUrl, consoleUrl, agents } = readLocal(process.env);
      const lines = [`api      ${apiUrl}`, `console  ${consoleUrl}`, `data     ${localHome(process.env)}`];
      const text = () =>
        [...lines, ...agents.map((agent) => `${agent.name}   ${agent.zone}, pid ${agent.pid}`)].join('\n');
      print(formatItem({ apiUrl, consoleUrl, agents }, text, outputOf(command)));
    });
  return local;
}

function outputOf(command: Command): OutputOptions {
  const { output } = command.optsWithGlobals<{ output: string }>();
  return { output: parseFormat(output), headers: true, color: false };
}
