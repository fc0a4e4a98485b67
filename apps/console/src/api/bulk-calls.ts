/** Calls for actions on many volumes: each is first tried as a dry run. */
import type { Schema } from '@holdfast/api-client/client.js';
import { ask, client } from './client';
import { isProblem } from './problem';

const VOLUME = '/api/v1/clusters/{clusterId}/volumes/{volumeId}' as const;

/** Result of an action on one volume, or of its dry run. */
export type BulkResult =
  | { readonly kind: 'ok'; readonly note: string }
  | { readonly kind: 'refused'; readonly why: string };

export type VolumeAt = { readonly clusterId: string; readonly volumeId: string };
/** `isDry`: nothing is changed, and the answer says what would be. */
type How = { readonly isDry: boolean };
export type VolumePatchBody = { numberOfReplicas: number } | { labels: Record<string, string | null> };

const queryOf = ({ isDry }: How) => (isDry ? { dryRun: true } : {});

export const bulkCalls = {
  detach: (path: VolumeAt, how: How) =>
    outcome(ask(client.POST(`${VOLUME}/detach`, { params: { path, query: queryOf(how) }, body: {} }))),
  delete: (path: VolumeAt, how: How) =>
    outcome(ask(client.DELETE(VOLUME, { params: { path, query: queryOf(how) } }))),
  patch: (path: VolumeAt, how: How, body: VolumePatchBody) =>
    outcome(ask(client.PATCH(VOLUME, { params: { path, query: queryOf(how) }, body }))),
  /** A snapshot costs nothing that could be shown before. */
  snapshot: (path: VolumeAt, how: How, name: string) =>
    how.isDry
      ? Promise.resolve<BulkResult>({ kind: 'ok', note: 'a snapshot is taken' })
      : outcome(
          ask(client.POST(`${VOLUME}/snapshots`, { params: { path }, body: name === '' ? {} : { name } })),
        ),
};

/** A refusal is a result as well; without an answer the result is unknown. */
async function outcome(call: Promise<unknown>): Promise<BulkResult> {
  try {
    const answer = await call;
    return { kind: 'ok', note: isDryRun(answer) ? noteOf(answer) : 'done' };
  } catch (error) {
    return { kind: 'refused', why: isProblem(error) ? error.detail : 'there was no answer' };
  }
}

function isDryRun(answer: unknown): answer is Schema<'DryRun'> {
  return typeof answer === 'object' && answer !== null && 'dryRun' in answer && answer.dryRun === true;
}

function noteOf({ changes, copies, events }: Schema<'DryRun'>): string {
  if (!changes) return 'nothing would change';
  const effects = [...new Set(copies.map(({ effect }) => effect))].map((effect) => {
    const count = copies.filter((copy) => copy.effect === effect).length;
    return `${count} ${count === 1 ? 'copy' : 'copies'} ${effect}`;
  });
  return effects.length > 0 ? effects.join(', ') : (events[0]?.message ?? 'it would be changed');
}
