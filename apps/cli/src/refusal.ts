import { CliError, exitCodeFor } from './exit-codes.js';
import { fieldOf } from './json.js';

/**
 * The error for a refused request. A proxy may have answered in its own format, so no field of a problem document is
 * taken for granted.
 */
export function refusal(status: number, body: unknown, exitCode = exitCodeFor(status)): CliError {
  const text = textAt(body, 'detail') ?? textAt(body, 'title') ?? `the API answered ${status}`;
  const fields = listAt(body, 'errors');
  const sentences = fields.map(fieldSentence);
  // The API's message joins the sentences about fields. Here each has a line of its own, and nothing appears twice.
  const [first = text, ...details] =
    text === sentences.join('; ')
      ? sentences
      : [text, ...sentences.filter((_, index) => !text.includes(textAt(fields[index], 'detail') ?? ''))];
  const cures = listAt(body, 'cures').filter((cure) => typeof cure === 'string');
  const requestId = textAt(body, 'requestId');
  const where = status < 500 || requestId === undefined ? [] : [`request ${requestId}`];
  return new CliError(exitCode, first, [...details, ...cures, ...where]);
}

/** `/size` and `must be at least 4096` as a sentence. */
function fieldSentence(error: unknown): string {
  const pointer = textAt(error, 'pointer') ?? '';
  const field = pointer === '' ? 'the body' : pointer.replace(/^\//, '');
  return `${field} ${textAt(error, 'detail') ?? ''}`;
}

function textAt(value: unknown, key: string): string | undefined {
  const found = fieldOf(value, key);
  return typeof found === 'string' ? found : undefined;
}

function listAt(value: unknown, key: string): unknown[] {
  const found = fieldOf(value, key);
  return Array.isArray(found) ? found : [];
}
