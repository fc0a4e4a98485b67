import { CliError, EXIT } from '../exit-codes.js';

/** Words that an option takes, one key each, so that a missing or surplus word does not compile. */
export type Choices<Word extends string> = Readonly<Record<Word, true>>;

/** The option's word. @throws CliError for a word that is none of the choices */
export function parseChoice<Word extends string>(text: string, choices: Choices<Word>): Word {
  for (const word in choices) if (word === text) return word;
  throw new CliError(EXIT.usage, `${text} is not known here`, [
    `use one of ${Object.keys(choices).join(', ')}`,
  ]);
}

/** `on` is true and `off` is false. @throws CliError for another word */
export function parseSwitch(text: string): boolean {
  return parseChoice(text, { on: true, off: true }) === 'on';
}
