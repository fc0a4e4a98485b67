// Volumes created per second over HTTP with their placement committed.
import type { Figure } from '@holdfast/data-engine/bench/figure.js';
import type { Pool } from '@holdfast/database/sql/pool.js';
import { report } from '../report.js';
import { type Answer, post } from './load.js';
import { measurePair, ROUNDS } from './rounds.js';

const SERVER_TIMING = /server-timing: wait;dur=([\d.]+), decide;dur=([\d.]+), commit;dur=([\d.]+)/;
export const GIB = 2 ** 30;
const REPLICAS = 3;
/** Of what a bare server does with the same statements. */
const RATIO = 0.5;

type CaseRow = Pick<Figure, 'bench' | 'case'>;

export type CreateLoad = {
  readonly system: Pool;
  readonly ports: { readonly api: number; readonly bare: number };
  readonly clusterId: string;
  readonly token: string;
  readonly disks: number;
  /** Volumes that the API creates in all rounds, those that warm it included. */
  readonly count: number;
};

export async function measureCreates(given: CreateLoad): Promise<void> {
  const { system, ports, clusterId, token, disks, count } = given;
  const address = `/api/v1/clusters/${clusterId}/volumes`;
  const create = (index: number) => post(address, token, volumeBody(`bench-${index}`));
  const bare = (index: number) => post(`/create/${index}`, token, volumeBody(`bare-${index}`));
  const perRound = Math.ceil(count / (ROUNDS + 1));
  const name = `create, ${disks} disks, ${REPLICAS} replicas`;
  const parts = new AnswerParts();
  const onAnswer = (answer: Answer) => parts.add(answer);
  const pair = { name, ports, api: create, bare, count: perRound, ratioTarget: RATIO, status: 201, onAnswer };
  await measurePair(pair);
  await checkPlacements(system, (ROUNDS + 1) * perRound);
  parts.report({ bench: 'api', case: name });
}

/**
 * Parts of an answer's time by the API's own Server-Timing: the wait for a transaction, the decision, the commit, and
 * HTTP, which is everything else between the client's two ends.
 */
class AnswerParts {
  private readonly sums = { http: 0, wait: 0, decide: 0, commit: 0 };
  private count = 0;

  add({ head, ms }: Answer): void {
    const [, wait, decide, commit] = SERVER_TIMING.exec(head)?.map(Number) ?? [];
    if (wait === undefined || decide === undefined || commit === undefined)
      throw new Error(`an answer does not say what took its time: ${head}`);
    this.sums.http += ms - wait - decide - commit;
    this.sums.wait += wait;
    this.sums.decide += decide;
    this.sums.commit += commit;
    this.count += 1;
  }

  report(row: CaseRow): void {
    for (const [part, sum] of Object.entries(this.sums)) {
      report({ ...row, metric: `mean ms in ${part}`, value: sum / this.count, unit: 'ms' });
    }
  }
}

/** Checks that every volume is Scheduled, and has its replicas on disks that have booked them. */
async function checkPlacements(system: Pool, volumes: number): Promise<void> {
  const { rows } = await system.query(
    `SELECT (SELECT count(*) FROM volume WHERE name LIKE 'bench-%'
               AND conditions @> '[{"type": "Scheduled", "status": "True"}]') AS scheduled,
       (SELECT count(*) FROM replica r JOIN volume v ON v.id = r.volume_id
        WHERE v.name LIKE 'bench-%' AND r.disk_id IS NOT NULL) AS placed,
       (SELECT sum(size_bytes)::bigint FROM replica WHERE disk_id IS NOT NULL) AS wanted,
       (SELECT sum(storage_scheduled_bytes)::bigint FROM disk) AS booked`,
  );
  const [{ scheduled, placed, booked, wanted }] = rows;
  const isRight = scheduled === volumes && placed === volumes * REPLICAS && booked === wanted;
  if (!isRight) throw new Error(`not all were placed: ${JSON.stringify(rows[0])}`);
}

export function volumeBody(name: string): object {
  return { name, size: GIB, numberOfReplicas: REPLICAS };
}
