/** Labels on the command line: `--label team=a` sets one, `--label team-` takes it off. */
import { CliError, EXIT } from '../exit-codes.js';

/** @throws CliError for words that are neither `key=value` nor `key-` */
export function parseLabels(given: readonly string[]): Record<string, string | null> {
  return Object.fromEntries(given.map(parseOne));
}

/** Labels of a new object; there are none to remove. */
export function parseNewLabels(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const [key, value] = parseOne(text);
      if (value === null) throw new CliError(EXIT.usage, `${text}: a new object has no label to take off`);
      return [key, value];
    }),
  );
}

function parseOne(text: string): [string, string | null] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  if (at < 0 && text.length > 1 && text.endsWith('-')) return [text.slice(0, -1), null];
  throw new CliError(EXIT.usage, `${text} is no label`, ['write key=value, or key- to take it off']);
}

export function labelsText(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return parts.length === 0 ? '-' : parts.join(' ');
}
