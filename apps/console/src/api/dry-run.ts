/** A request that can be tried first: the dry run and the change itself are made of the same value. */
import type { Schema } from '@holdfast/api-client/client.js';
import { toProblem } from './problem';

export type DryRun = Schema<'DryRun'>;
export type PlannedRequest = {
  readonly method: 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below `/api/v1`. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
};

const TIME_MS_MAX = 60_000;

/** Result of a dry run. Nothing is changed. */
export async function dryRun(request: PlannedRequest, signal: AbortSignal): Promise<DryRun> {
  const { response, data } = await send(request, '?dryRun=true', signal);
  if (!response.ok || !isDryRun(data)) throw toProblem(response.status, data);
  return data;
}

export async function carryOut(request: PlannedRequest): Promise<void> {
  const { response, data } = await send(request, '', AbortSignal.timeout(TIME_MS_MAX));
  if (!response.ok) throw toProblem(response.status, data);
}

async function send({ method, path, body }: PlannedRequest, query: string, signal: AbortSignal) {
  const response = await fetch(`/api/v1${path}${query}`, {
    method,
    signal,
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { response, data: text === '' ? undefined : readJson(text) };
}

/** A proxy may answer with a page instead. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isDryRun(answer: unknown): answer is DryRun {
  return typeof answer === 'object' && answer !== null && 'dryRun' in answer && 'copies' in answer;
}
