/** `holdfast auth login` and `logout`: a token of the CLI's own, approved by its user in the console, kept in a context. */
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EndpointClient } from '@holdfast/api-client/client.js';
import type { Command } from 'commander';
import { bodyOf, createApi, doneOf } from '../api.js';
import { readLocal } from '../connection.js';
import { print, remark } from '../context.js';
import { contextNamed, readContexts, removeContext, saveContext } from '../contexts.js';
import { CliError, EXIT } from '../exit-codes.js';
import { fieldOf } from '../json.js';

/** @param auth the command that they are put under */
export function addLoginCommands(auth: Command): void {
  auth
    .command('login')
    .option('--name <context>', 'name of the context; left out: the host')
    .description('sign in by the console, and keep the token in a context')
    .action(async (options: { name?: string }, command: Command) => {
      const endpoint = endpointOf(command);
      const api = createApi({ apiUrl: endpoint, token: '', clusterId: undefined });
      const token = await approvedToken(api);
      const name = options.name ?? new URL(endpoint).hostname;
      saveContext(process.env, name, { endpoint, token });
      print(`${name}: signed in at ${endpoint}`);
    });
  auth
    .command('logout')
    .argument('[context]', 'left out: the current one')
    .description('end the token of a context, and forget the context')
    .action(async (wanted: string | undefined) => {
      const stored = readContexts(process.env);
      const name = wanted ?? stored.current;
      if (name === undefined) throw new CliError(EXIT.usage, 'there is no current context');
      const { endpoint, token } = contextNamed(stored, name);
      const api = createApi({ apiUrl: endpoint, token, clusterId: undefined });
      try {
        // Ends the token that the request is made with.
        await doneOf(api.DELETE('/sessions'));
      } catch (error) {
        const isOver = error instanceof CliError && error.exitCode === EXIT.auth;
        if (!isOver) throw error;
      }
      removeContext(process.env, name);
      print(`${name}: signed out`);
    });
}

function endpointOf(command: Command): string {
  const { endpoint } = command.optsWithGlobals<{ endpoint?: string }>();
  return (endpoint ?? process.env.HOLDFAST_ENDPOINT ?? readLocal(process.env).apiUrl).replace(/\/+$/, '');
}

async function approvedToken(api: EndpointClient): Promise<string> {
  const body = { name: `holdfast CLI on ${os.hostname()}`.slice(0, 100) };
  const started = await bodyOf(api.POST('/device/start', { body }));
  remark(`approve the code ${started.userCode} at\n  ${started.verificationUriComplete}`);
  const endsAt = Date.now() + started.expiresInSeconds * 1_000;
  while (Date.now() < endsAt) {
    await sleep(started.intervalSeconds * 1_000);
    const answer = await api.POST('/device/token', { body: { deviceCode: started.deviceCode } });
    if (fieldOf(answer.error, 'code') !== 'device.waiting')
      return (await bodyOf(Promise.resolve(answer))).token;
  }
  throw new CliError(EXIT.timedOut, 'the code was not approved in time', ['begin again']);
}
