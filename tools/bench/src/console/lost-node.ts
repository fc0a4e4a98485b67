// The loss of a node with two thousand volumes on a whole stack with its worker: from the kill of the agent to what a user sees. The
// volumes are rows at the places of two that the stack has made; the worker judges each of them meanwhile, beside the API.
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

export type LostNode = {
  readonly volumes: number;
  /** From the kill of the agent until the control plane takes the node for lost, which `agent-heartbeat-timeout` sets. */
  readonly noticedMs: number;
  /** From then until an open overview names it as the one cause, with all that it serves and holds counted. */
  readonly shownMs: number;
};

export async function measureLostNode(executable: string, quick: boolean): Promise<LostNode> {
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
      return await lose(visit, pool, counts);
    } finally {
      await visit.end();
      await pool.end();
    }
  } finally {
    await postgres.stop();
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

async function lose({ stack, page }: ConsoleVisit, pool: Pool, counts: typeof FULL): Promise<LostNode> {
  const killedAt = Date.now();
  stack.killAgent(NODE);
  // The copies are for a node that does not answer: its agent knows nothing of them. They are there long before it is missed.
  for (const [kind, count] of Object.entries(counts)) {
    const names = Array.from({ length: count - 1 }, (_, n) => `${kind}-${n}`);
    await copyVolume(pool, { volumeId: await idOf(pool, kind), names });
  }
  const { served, held } = counts;
  const words = `${NODE} does not answer: ${served.toLocaleString('en')} not served, ${held} degraded`;
  await page.getByText(words).waitFor({ timeout: WAIT_MS_MAX });
  const shownAt = Date.now();
  const noticedAt = await lostAt(pool);
  return { volumes: served + held, noticedMs: noticedAt - killedAt, shownMs: shownAt - noticedAt };
}

async function idOf(pool: Pool, name: string): Promise<string> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM volume WHERE name = $1', [name]);
  const [volume] = rows;
  if (volume === undefined) throw new Error(`there is no volume ${name}`);
  return volume.id;
}

/** When the worker took the node for lost: its commit comes a moment after. */
async function lostAt(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ at: string }>(`SELECT at FROM event WHERE type = 'NodeNotReady'`);
  const [event] = rows;
  if (event === undefined) throw new Error(`the loss of ${NODE} is no event`);
  return new Date(event.at).getTime();
}
