/** Exit codes of the CLI. Scripts rely on these; see `holdfast help exit-codes`. */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  unsatisfied: 3,
  auth: 4,
  notFound: 5,
  conflict: 6,
  limited: 7,
  timedOut: 8,
  partial: 9,
  unreachable: 20,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_CODE_HELP = `Exit codes
  0    done
  1    something unexpected; of longhorn inspect: findings
  2    wrong usage, or the API refused the input
  3    a precondition or a check does not hold (copies differ, a volume fits nowhere, not all of a simulation fit)
  4    not signed in, or not allowed
  5    not found
  6    conflict: the present state does not allow it, or another request changed it meanwhile
  7    over a quota or rate limit
  8    timed out while waiting
  9    some of several things failed
  20   the API can't be reached
  130  interrupted`;

/** The exit code for an HTTP status of the API. */
export function exitCodeFor(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.auth;
  if (status === 404) return EXIT.notFound;
  if (status === 409 || status === 412) return EXIT.conflict;
  if (status === 429) return EXIT.limited;
  if (status === 400 || status === 413 || status === 422) return EXIT.usage;
  if (status >= 502 && status <= 504) return EXIT.unreachable;
  return EXIT.unexpected;
}

/** An expected failure of a command: its text goes to stderr, its code to the shell. */
export class CliError extends Error {
  override readonly name = 'CliError';

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    readonly hints: readonly string[] = [],
  ) {
    super(message);
  }
}
