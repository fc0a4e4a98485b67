/** Completions of a command line: nouns, verbs, options, and names of existing objects. */

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Argument, Command } from 'commander';
import { createApi, itemsOf } from './api.js';
import { type Connection, resolveConnection } from './connection.js';
import { type Noun, nounIn } from './nouns.js';

type Completion = { readonly word: string; readonly meaning: string };

/** A user who completes presses the key several times. */
const CACHED_MS = 5_000;
const LISTS: Readonly<Record<string, '/clusters/{clusterId}/volumes' | '/clusters/{clusterId}/nodes'>> = {
  volume: '/clusters/{clusterId}/volumes',
  volumes: '/clusters/{clusterId}/volumes',
  node: '/clusters/{clusterId}/nodes',
};

/**
 * @param words what stands behind the program's name, the last one perhaps begun only
 * @param program loads the commands of these nouns; left out: all
 */
export async function completions(
  words: readonly string[],
  program: (nouns?: readonly Noun[]) => Promise<Command>,
): Promise<Completion[]> {
  const begun = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const noun = nounIn(before);
  const root = await program(noun === undefined ? undefined : [noun]);
  const { command, given } = commandAt(root, before);
  if (begun.startsWith('-')) return startingWith(optionsOf(command, root), begun);
  const verbs = verbsOf(command);
  if (verbs.length > 0) return startingWith(verbs, begun);
  return startingWith(await namesFor(argumentAt(command, given)), begun);
}

function startingWith(all: readonly Completion[], begun: string): Completion[] {
  return all.filter(({ word }) => word.startsWith(begun));
}

/** The command that the words name, and how many arguments it has been given. */
function commandAt(root: Command, words: readonly string[]): { command: Command; given: number } {
  let command = root;
  let given = 0;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (word.startsWith('-')) {
      if (takesValue(command, root, word)) index += 1;
      continue;
    }
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) given += 1;
    else command = next;
  }
  return { command, given };
}

function takesValue(command: Command, root: Command, word: string): boolean {
  const option = [...command.options, ...root.options].find(
    ({ long, short }) => long === word || short === word,
  );
  return option !== undefined && (option.required || option.optional);
}

function verbsOf({ commands }: Command): Completion[] {
  return commands
    .filter((command) => !isHidden(command))
    .map((command) => ({ word: command.name(), meaning: command.description() }));
}

function isHidden(command: Command): boolean {
  return command.name() === 'exit-codes' || command.name() === 'words';
}

function optionsOf(command: Command, root: Command): Completion[] {
  const options = command === root ? root.options : [...command.options, ...root.options];
  return options.flatMap(({ long, description }) =>
    long === undefined || long === null ? [] : [{ word: long, meaning: description }],
  );
}

function argumentAt({ registeredArguments }: Command, given: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[given] ?? (last?.variadic === true ? last : undefined);
}

/** Names for an argument. Without an API there are none: a shell shows no errors. */
async function namesFor(argument: Argument | undefined): Promise<Completion[]> {
  const list = LISTS[argument?.name() ?? ''];
  if (list === undefined) return [];
  try {
    const connection = resolveConnection({}, process.env);
    return (await cachedNames(connection, list)).map((word) => ({ word, meaning: argument?.name() ?? '' }));
  } catch {
    return [];
  }
}

async function cachedNames(connection: Connection, list: (typeof LISTS)[string]): Promise<string[]> {
  const key = createHash('sha256')
    .update(JSON.stringify([connection, list]))
    .digest('hex')
    .slice(0, 24);
  const home = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  const folder = path.join(home, 'holdfast');
  const file = path.join(folder, key);
  const known = readFresh(file);
  if (known !== undefined) return known;
  const { clusterId } = connection;
  if (clusterId === undefined) return [];
  const api = createApi(connection);
  const items = await itemsOf<{ name: string }>((query) =>
    api.GET(list, { params: { path: { clusterId }, query } }),
  );
  const names = items.map(({ name }) => name);
  // Names of volumes are for their users only.
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  fs.writeFileSync(file, names.join('\n'), { mode: 0o600 });
  return names;
}

function readFresh(file: string): string[] | undefined {
  try {
    if (Date.now() - fs.statSync(file).mtimeMs > CACHED_MS) return undefined;
    return fs
      .readFileSync(file, 'utf8')
      .split('\n')
      .filter((name) => name !== '');
  } catch {
    return undefined;
  }
}
