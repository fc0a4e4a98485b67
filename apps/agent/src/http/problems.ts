import { HTTP_STATUS, newestEpochOf, StorageFault } from '@holdfast/core/model/faults.js';

/** The answer to a failed call: a fault's own text, and none of any other error's. */
export function problemOf(error: unknown): {
  status: number;
  code: string;
  message: string;
  newestEpoch?: number | undefined;
} {
  if (error instanceof StorageFault) {
    const { code, message, traits } = error;
    return { status: HTTP_STATUS[traits.kind], code, message, newestEpoch: newestEpochOf(error) };
  }
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  if (status === 413) return { status, code: 'request.too_large', message: 'the body is too large' };
  if (status === 400 || status === 415) {
    return { status, code: 'request.invalid', message: 'the request can not be read' };
  }
  return { status: 500, code: 'agent.refused', message: 'the agent failed; its log says why' };
}
