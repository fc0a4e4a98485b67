// The loss of a node with two thousand volumes on a whole stack with its worker: from the kill of its agent, or from when all
// its processes stand still, to what a user sees. The volumes are rows at the places of two that the stack has made; the worker judges
// each of them meanwhile, beside the API.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import { migrate } from '@holdfast/database/migrate.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import { copyVolume } from '@holdfast/testkit/copied-volumes.js';

const NODE = 'node-1';
const FULL = { served: 1_500, held: 500 };
const QUICK = { served: 150, held: 50 };
/** Long after both should have come about: what takes longer is no figure but a fault. */
const WAIT_MS_MAX = 120_000;

/** A killed agent's port is closed; what is stopped takes connections and says nothing, as a machine without power says nothing. */
type Loss = 'kill' | 'stop';
const SIGNAL = { kill: 'SIGKILL', stop: 'SIGSTOP' } as const;

export type LostNode = {
  readonly volumes: number;
  /** Until the control plane takes the node for lost, or for unanswering. */
  readonly noticedMs: number;
  /** From then until an open overview names it as the one cause, with all that it serves and holds counted. */
  readonly shownMs: number;
};

export async function measureLostNode(executable: string, loss: Loss, quick: boolean): Promise<LostNode> {
  const counts = quick ? QUICK : FULL;
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-bench-'));
  // As root, Postgres runs as another system user and has to reach its data in there.
  fs.chmodSync(scratch, 0o755);
  const postgres = await startEmbeddedPostgres({ directory: path.join(scratch, 'postgres') });
  try {
    await migrate(postgres.url);
    const pool = createPool(postgres.url, { connectionsMax: 1, applicationName: 'bench' });
    const visit = await ConsoleVisit.begin(
      executable,
      async (stack) => {
        for (const name of Object.keys(counts))
          await stack.cliJson('volume', 'create', name, '--size', '16Mi', '--replicas', '3');
        await stack.cliJson('volume', 'attach', 'served', '--node', NODE);
      },
      { env: { DATABASE_URL: postgres.url } },
    );
    try {
      await visit.signIn();
      return await lose(visit, pool, { counts, loss });
    } finally {
      await visit.end();
      await pool.end();
    }
  } finally {
    await postgres.stop();
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

type Losing = { readonly counts: typeof FULL; readonly loss: Loss };

async function lose({ stack, page }: ConsoleVisit, pool: Pool, { counts, loss }: Losing): Promise<LostNode> {
  // The agent knows nothing of the copies, and is lost before a worker has looked at many of them.
  for (const [kind, count] of Object.entries(counts)) {
    const names = Array.from({ length: count - 1 }, (_, n) => `${kind}-${n}`);
    await copyVolume(pool, { volumeId: await idOf(pool, kind), names });
  }
  const { pid } = stack.agent(NODE);
  const lostAt = Date.now();
  process.kill(-pid, SIGNAL[loss]);
  const { served, held } = counts;
  const words = `${NODE} does not answer: ${served.toLocaleString('en')} not served, ${held} degraded`;
  await page.getByText(words).waitFor({ timeout: WAIT_MS_MAX });
  const shownAt = Date.now();
  const noticedAt = await NOTICED[loss](pool);
  // What stands still could not be ended.
  if (loss === 'stop') process.kill(-pid, 'SIGCONT');
  return { volumes: served + held, noticedMs: noticedAt - lostAt, shownMs: shownAt - noticedAt };
}

async function idOf(pool: Pool, name: string): Promise<string> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM volume WHERE name = $1', [name]);
  const [volume] = rows;
  if (volume === undefined) throw new Error(`there is no volume ${name}`);
  return volume.id;
}

/** When the node was missed by the look that found it lost: an answer is waited for, and what it means is stored, after that. */
const NOTICED: Record<Loss, (pool: Pool) => Promise<number>> = {
  kill: (pool) => timeOf(pool, `SELECT at FROM event WHERE type = 'NodeNotReady'`),
  stop: (pool) => timeOf(pool, `SELECT unanswered_at AS at FROM node WHERE name = '${NODE}'`),
};

async function timeOf(pool: Pool, statement: string): Promise<number> {
  const { rows } = await pool.query<{ at: Date | null }>(statement);
  const at = rows[0]?.at;
  if (at === undefined || at === null) throw new Error(`the loss of ${NODE} was not noticed`);
  return at.getTime();
}
