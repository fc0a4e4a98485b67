import { CliError, EXIT } from '../exit-codes.js';

/** The words that an option takes: a key for each, so that one too many or too few does not compile. */
export type Choices<Word extends string> = Readonly<Record<Word, true>>;

/** @throws CliError for a word that is none of the choices */
export function parseChoice<Word extends string>(text: string, choices: Choices<Word>): Word {
  for (const word in choices) if (word === text) return word;
  throw new CliError(EXIT.usage, `${text} is not known here`, [
    `use one of ${Object.keys(choices).join(', ')}`,
  ]);
}
