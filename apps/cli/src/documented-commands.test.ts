/** Commands on the operator's pages: each exists in this version, with the options that it takes. */
import fs from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { Command, Option } from 'commander';
import { parse } from 'yaml';
import { NOUNS } from './nouns.js';
import { program } from './program.js';

const inRepository = (file: string) => new URL(`../../../${file}`, import.meta.url);
const textOf = (file: string) => fs.readFileSync(inRepository(file), 'utf8');
const PAGES = [
  'README.md',
  ...['OPERATIONS', 'commands', 'administration', 'local-stack', 'deployment'].map(
    (page) => `docs/${page}.md`,
  ),
];
/** Words that may precede the program's name. */
const HOLDFAST = /(?:^\$ |`)(?:[A-Z_]+=\S+ )*(?:npx )?holdfast ([a-z][^`\n]*)/gm;
/** The service that is the command line's noun of the same name. */
const BACKUP = /docker compose run --rm (backup [a-z][^`\n]*)/g;
const COMPOSE = /^\$ (?:[A-Z_]+=\S+ )?docker compose (up|run|restart|logs|stop|exec)([^\n&]*)/gm;
/** Words after the service are a command in its container. */
const WITH_COMMAND = ['run', 'exec'];

const root = await program(NOUNS);

/** Error of a command; `undefined`: none. */
function problemOf(line: string): string | undefined {
  const words = line.split(/\s(?=(?:[^']*'[^']*')*[^']*$)/);
  let command: Command = root;
  const options: Option[] = [...root.options];
  const isPlain = (word: string) => /^[a-z][a-z-]*$/.test(word);
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) {
      if (command.commands.length > 0 && isPlain(word)) return `${command.name()} has no ${word}`;
      break;
    }
    command = next;
    options.push(...command.options);
  }
  const wrong = words
    .filter((word) => word.startsWith('-'))
    .map((word) => word.replace(/=.*/, ''))
    .find((word) => !options.some(({ long, short }) => long === word || short === word));
  return wrong === undefined ? undefined : `${command.name()} takes no ${wrong}`;
}

describe.each(PAGES)('%s', (page) => {
  const commands = [HOLDFAST, BACKUP].flatMap((pattern) =>
    [...textOf(page).matchAll(pattern)].map(([, line]) => line?.trim() ?? ''),
  );

  test('tells commands that there are', () => {
    expect(commands.length).toBeGreaterThan(0);
    const problems = commands.flatMap((line) => {
      const problem = problemOf(line);
      return problem === undefined ? [] : [`${line}: ${problem}`];
    });
    expect(problems).toEqual([]);
  });

  test('names services of docker-compose.yml', () => {
    const { services }: { services: object } = parse(textOf('docker-compose.yml'), { merge: true });
    const named = [...textOf(page).matchAll(COMPOSE)].flatMap(([, verb = '', words = '']) => {
      const plain = words.split(' ').filter((word) => /^[a-z]/.test(word));
      return WITH_COMMAND.includes(verb) ? plain.slice(0, 1) : plain;
    });
    expect(named.filter((word) => !Object.keys(services).includes(word))).toEqual([]);
  });
});
