/** Interpretation of the command menu's text: matching lines, and names to search for. */

/** Comparisons in one filter, so that a sentence that was pasted makes no long one. */
const NAMES_MAX = 3;
const NAME = /^[a-z0-9][a-z0-9._/-]*$/;

/** Each word has to be in a line, in any order. Lines that begin with the first word come first. */
export function menuScore(value: string, typed: string): number {
  const words = wordsOf(typed);
  const line = value.toLowerCase();
  if (!words.every((word) => line.includes(word))) return 0;
  const [first] = words;
  if (first === undefined || line.startsWith(first)) return 1;
  return line.split(' ').some((part) => part.startsWith(first)) ? 0.8 : 0.5;
}

/** Filter for things whose name begins with one of the words; empty: nothing that was typed can be a name. */
export function namesFilter(typed: string): string {
  return namesIn(typed)
    .slice(0, NAMES_MAX)
    .map((word) => `name=${word}*`)
    .join(' OR ');
}

function namesIn(typed: string): string[] {
  return [...new Set(wordsOf(typed).filter((word) => NAME.test(word)))];
}

function wordsOf(typed: string): string[] {
  return typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** State of the search for objects of one kind. */
export type Answer = 'pending' | 'failed' | 'known';
/** By the kind's heading, such as `Volumes`. */
export type Answers = Readonly<Record<string, Answer>>;

/**
 * Text below the lines about unfinished or failed searches; `undefined`: none.
 *
 * @param lines number of matching lines
 * @param isCut whether the API does not answer, so that no pending answer will come
 */
export function searchNote(lines: number, answers: Answers, isCut: boolean): string | undefined {
  const kinds = Object.entries(answers);
  const isMissing = ([, answer]: [string, Answer]) => answer === 'failed' || (isCut && answer === 'pending');
  const missing = kinds.filter(isMissing).map(([kind]) => kind.toLowerCase());
  if (missing.length > 0) return `No answer for ${listed(missing)}: there may be more.`;
  if (lines > 0) return undefined;
  return kinds.some(([, answer]) => answer === 'pending') ? 'Searching…' : 'Nothing is called that.';
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
