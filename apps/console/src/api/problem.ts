/** A refusal of the API, as an RFC 9457 problem document. */
export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    readonly detail: string,
    readonly requestId: string | undefined,
    readonly errors: readonly { pointer: string; detail: string }[],
    readonly cures: readonly string[],
  ) {
    super(detail);
  }
}

export function isProblem(error: unknown): error is Problem {
  return error instanceof Problem;
}

type ProblemBody = Partial<{
  code: string;
  title: string;
  detail: string;
  requestId: string;
  errors: { pointer: string; detail: string }[];
  cures: string[];
}>;

/** Reads a refusal. A body that is no problem document (a proxy's page, nothing at all) still becomes one. */
export function toProblem(status: number, body: unknown): Problem {
  const known: ProblemBody = typeof body === 'object' && body !== null ? body : {};
  return new Problem(
    status,
    known.code ?? `http.${status}`,
    known.title ?? 'The request failed',
    known.detail ?? `The server answered with status ${status}.`,
    known.requestId,
    known.errors ?? [],
    known.cures ?? [],
  );
}
