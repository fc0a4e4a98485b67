import http from 'node:http';
import { Command } from 'commander';
import { isLocalAgent, type LocalAgent, localHome, readLocal } from '../connection.js';
import { print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { fieldOf } from '../json.js';
import { formatItem, type OutputOptions, parseFormat } from '../output/format.js';

/** Time limit of an agent's start. It takes seconds; a very busy machine may need more. */
const START_TIMEOUT_MS = 120_000;

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

/** Has the running stack start an agent, and returns when its node is Ready. */
export function orderAgent(socketPath: string, name: string): Promise<LocalAgent> {
  return new Promise((resolve, reject) => {
    const path = `/agents/${encodeURIComponent(name)}/start`;
    const request = http.request(
      { socketPath, path, method: 'POST', timeout: START_TIMEOUT_MS },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => {
          // The local stack answers with an agent, or with a message.
          const answer: unknown = JSON.parse(text);
          const message = fieldOf(answer, 'message');
          if (response.statusCode === 200 && isLocalAgent(answer)) resolve(answer);
          else reject(new CliError(EXIT.conflict, String(message ?? 'the local stack refused')));
        });
      },
    );
    request.once('timeout', () => request.destroy(new Error('it took too long')));
    request.once('error', (error) => {
      reject(
        new CliError(EXIT.unreachable, `the local stack does not answer: ${error.message}`, [
          'start it with `npm start`',
        ]),
      );
    });
    request.end();
  });
}
