/** Entry of the local stack, which `npm start` runs in the foreground until it is stopped. */
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline/promises';
import { removeEmbeddedPostgres } from '@holdfast/database/embedded/location.js';
import { readConfig, type StackConfig } from './config.js';
import { claimHome } from './home-lock.js';
import { ChildRegistry } from './leftovers.js';
import { Stack } from './stack.js';
import { stackLog } from './stack-log.js';

async function main(): Promise<void> {
  const config = readConfig(process.env);
  if (process.argv.includes('--reset')) await reset(config);
  const stack = await Stack.open(config, stackLog(config.home));
  const stop = () => {
    void stack.stop().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  // A closed terminal ends the stack as Ctrl-C does.
  process.on('SIGHUP', stop);

  try {
    const local = await stack.start();
    printReady(config, local.apiUrl, local.consoleUrl, stack.password);
  } catch (error) {
    await stack.stop();
    fail(error);
  }
}

function printReady(config: StackConfig, apiUrl: string, consoleUrl: string, password: string): void {
  const lines = [
    '',
    'Holdfast is ready',
    '',
    ...(config.console ? [`  Console   ${consoleUrl}`, `            admin@holdfast.local  ${password}`] : []),
    `  REST      ${apiUrl}`,
    `  GraphQL   ${apiUrl.replace('/api/v1', '/graphql')}`,
    `  CLI       npx holdfast node list`,
    `  Data      ${config.home}`,
    '',
    '  Ctrl-C stops it; the data stays.',
    '',
  ];
  console.log(lines.join('\n'));
}

/** Deletes the home's data after a confirmation, at a terminal only. */
async function reset(config: StackConfig): Promise<void> {
  await claimHome(config.home);
  if (!process.stdin.isTTY) throw new Error('--reset asks before it deletes, so it needs a terminal');
  const terminal = readline.createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`Delete all volumes and data in ${config.home}? Type "delete": `);
  terminal.close();
  if (answer.trim() !== 'delete') throw new Error('nothing was deleted');
  await new ChildRegistry(config.home).endLeftovers();
  removeEmbeddedPostgres(path.join(config.home, 'postgres'));
  for (const entry of ['agents', 'agents.json', 'secrets.json', 'local.json', 'logs']) {
    fs.rmSync(path.join(config.home, entry), { recursive: true, force: true });
  }
}

function fail(error: unknown): never {
  console.error(`holdfast: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

await main().catch(fail);
