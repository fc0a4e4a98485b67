import { CliError, exitCodeFor } from './exit-codes.js';
import { fieldOf } from './json.js';

/**
 * The error for a refused request. A proxy may have answered in its own format, so no field of a problem document is
 * taken for granted.
 */
export function refusal(status: number, body: unknown, exitCode = exitCodeFor(status)): CliError {
  const text = textAt(body, 'detail') ?? textAt(body, 'title') ?? `the API answered ${status}`;
  const details = listAt(body, 'errors').map(
    (error) => `${textAt(error, 'pointer') ?? ''}: ${textAt(error, 'detail') ?? ''}`,
  );
  const cures = listAt(body, 'cures').filter((cure) => typeof cure === 'string');
  const requestId = textAt(body, 'requestId');
  const where = status < 500 || requestId === undefined ? [] : [`request ${requestId}`];
  return new CliError(exitCode, text, [...details, ...cures, ...where]);
}

function textAt(value: unknown, key: string): string | undefined {
  const found = fieldOf(value, key);
  return typeof found === 'string' ? found : undefined;
}

function listAt(value: unknown, key: string): unknown[] {
  const found = fieldOf(value, key);
  return Array.isArray(found) ? found : [];
}
