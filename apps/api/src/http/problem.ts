import {
  FAULTS,
  type FaultCode,
  type FaultItem,
  HTTP_STATUS,
  StorageFault,
} from '@holdfast/core/model/faults.js';
import { z } from 'zod';

/**
 * RFC 9457, with fields of our own: a stable code, the cures, and the request's ids. The same object is in a GraphQL error's extensions.
 */
export const problemSchema = z
  .object({
    type: z.string().describe('The code as a URI: `urn:holdfast:problem:` and the code.'),
    title: z.string().describe('The kind of problem in a few words; the same for all problems of a status.'),
    status: z.int().describe("The answer's HTTP status."),
    detail: z.string().describe('The cause of the refusal of this request, in a sentence.'),
    code: z.string().describe('Stable code of the refusal, for programs; each operation lists its own.'),
    requestId: z.string().describe("The request's id in the server's log, as in the header `X-Request-Id`."),
    traceId: z
      .string()
      .optional()
      .describe('The trace that the request is part of (W3C Trace Context); left out: none.'),
    retryable: z.boolean().describe('The same request may succeed later; `Retry-After` names the time.'),
    errors: z
      .array(
        z.object({
          pointer: z
            .string()
            .describe('JSON Pointer (RFC 6901) into the body, or the name of a query parameter or header.'),
          detail: z.string().describe('The error there.'),
        }),
      )
      .describe('The invalid fields of the request; empty when the refusal has another cause.'),
    cures: z.array(z.string()).describe('Possible remedies, for people; empty when none is known.'),
  })
  .meta({ id: 'Problem' });

export type Problem = z.infer<typeof problemSchema>;

type Kind = (typeof FAULTS)[FaultCode]['kind'];

const TITLES: Record<Kind, string> = {
  invalid: 'The request is wrong',
  unauthenticated: 'Sign in first',
  forbidden: 'Not allowed',
  'not-found': 'Not found',
  conflict: 'Not possible as things are',
  precondition: 'It was changed meanwhile',
  'too-large': 'The request is too large',
  limited: 'Too many requests',
  quota: 'Over a quota',
  unavailable: 'Not available at the moment',
};

export function problemOf(fault: StorageFault, requestId: string, status = statusOf(fault)): Problem {
  const { kind, retry } = fault.traits;
  return {
    type: `urn:holdfast:problem:${fault.code}`,
    title: fault.code === 'fleet.inconsistent' ? 'The stored data is broken' : TITLES[kind],
    status,
    detail: fault.details.publicMessage,
    code: fault.code,
    requestId,
    retryable: retry === 'backoff',
    errors: (fault.details.errors ?? []).map((item): FaultItem => ({ ...item })),
    cures: [...(fault.details.cures ?? [])],
  };
}

/** Statuses that a code's kind does not give: broken stored data is no fault of the request, so it is the server's failure. */
const STATUS_OF_CODE: Partial<Record<FaultCode, number>> = {
  'fleet.inconsistent': 500,
  'request.method_not_allowed': 405,
};

export function statusOf(fault: StorageFault): number {
  return statusOfCode(fault.code);
}

export function statusOfCode(code: FaultCode): number {
  return STATUS_OF_CODE[code] ?? HTTP_STATUS[FAULTS[code].kind];
}

/** The answer to an unexpected failure: a bug of the server. */
export const INTERNAL = { code: 'internal', status: 500 } as const;

/** An unexpected failure as a problem document: the log has the details, the answer does not. */
export function internalProblem(requestId: string): Problem {
  return {
    type: `urn:holdfast:problem:${INTERNAL.code}`,
    title: 'Something went wrong here',
    status: INTERNAL.status,
    detail: 'the server met a condition it does not know; the log has the details under the request id',
    code: INTERNAL.code,
    requestId,
    retryable: true,
    errors: [],
    cures: [],
  };
}

const REQUEST_ID_EXAMPLE = '01a1fd5b-0000-7000-8000-0000000000aa';

/** The problem with the trace that its request is part of, where there is one. */
export function inTrace(problem: Problem, traceId: string): Problem {
  return traceId === '' ? problem : { ...problem, traceId };
}

/** A problem document with the first of these codes, for the OpenAPI document. */
export function problemExample(status: number, codes: readonly string[]): Problem {
  const code = Object.keys(FAULTS).find((known): known is FaultCode => codes[0] === known);
  if (code === undefined) return internalProblem(REQUEST_ID_EXAMPLE);
  const fault = new StorageFault(code, { publicMessage: 'what is wrong with this request, in a sentence' });
  return problemOf(fault, REQUEST_ID_EXAMPLE, status);
}

/** Any error as a fault, if its message is meant for callers. */
export function faultOf(error: unknown): { fault: StorageFault; status?: number } | undefined {
  if (error instanceof StorageFault) return { fault: error };
  if (!(error instanceof Error)) return undefined;
  const status = httpStatusOf(error);
  if (status === undefined || status >= 500) return undefined;
  if (status === 404)
    return { fault: new StorageFault('request.not_found', { publicMessage: 'there is no such route' }) };
  // A part of the address that is longer than any id or name.
  if (status === 414) {
    return {
      fault: new StorageFault('request.not_found', { publicMessage: 'nothing has so long an address' }),
    };
  }
  if (status === 413) {
    return { fault: new StorageFault('request.too_large', { publicMessage: 'the body is too large' }) };
  }
  // The framework's message for a malformed body or header.
  return { fault: new StorageFault('request.invalid', { publicMessage: error.message }), status };
}

/** Fastify's errors have `statusCode`, Nest's `getStatus()`. */
function httpStatusOf(error: Error): number | undefined {
  if ('statusCode' in error && typeof error.statusCode === 'number') return error.statusCode;
  if ('getStatus' in error && typeof error.getStatus === 'function') return Number(error.getStatus());
  return undefined;
}
