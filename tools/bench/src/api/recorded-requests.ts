// What the API sends to Postgres for a request, recorded from the whole API in this process.
import { type App, createApp } from '@holdfast/api/app/app.js';
import { readConfig } from '@holdfast/api/config/config.js';
import type { RoleUrls } from '@holdfast/database/roles.js';
import type { LocalSeed } from '@holdfast/database/seed-local.js';
import type { Pool } from '@holdfast/database/sql/pool.js';
import { z } from 'zod';
import type { BarePlan } from './bare-server.js';
import { recordStatements, statementsOf } from './statements.js';

/** As many different requests of a kind as are recorded: the rest repeats them. */
const REQUESTS = 200;
export const PAGE = 50;

const created = z.object({
  id: z.string(),
  name: z.string(),
  replicas: z.array(z.object({ id: z.string(), diskId: z.string(), nodeId: z.string() })),
});
const page = z.object({ items: z.array(z.object({ id: z.string() })), nextCursor: z.string().nullable() });

/** Requests of the three kinds, and the plan of a bare server that does the same in Postgres. */
export type Recorded = { readonly plan: BarePlan; readonly gets: string[]; readonly lists: string[] };

type Source = { urls: RoleUrls; seed: LocalSeed; system: Pool; newVolume: (name: string) => object };

export async function recordRequests({ urls, seed, system, newVolume }: Source): Promise<Recorded> {
  recordStatements();
  const app = await createApp(
    readConfig({
      HOLDFAST_LOG_LEVEL: 'silent',
      DATABASE_URL: urls.apiUrl,
      DATABASE_SYSTEM_URL: urls.systemUrl,
    }),
  );
  try {
    const volumes = `/api/v1/clusters/${seed.clusterId}/volumes`;
    const ask = asker(app, seed.token);
    // The first ones fill what is remembered: the token's use, the fleet.
    const newOne = () => ask('POST', volumes, newVolume(`recorded-${crypto.randomUUID()}`));
    await newOne();
    const create = await newOne();
    const volume = created.parse(create.body);
    const gets: string[] = [];
    const lists: string[] = [];
    const [ofGets, ofLists]: [(typeof create.statements)[], (typeof create.statements)[]] = [[], []];
    for (let cursor: string | null = ''; lists.length < REQUESTS && cursor !== null; ) {
      const url = `${volumes}?limit=${PAGE}${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const { body, statements } = await ask('GET', url);
      const read = page.parse(body);
      lists.push(url);
      ofLists.push(statements);
      const one = `${volumes}/${read.items[0]?.id}`;
      gets.push(one);
      ofGets.push((await ask('GET', one)).statements);
      cursor = read.nextCursor;
    }
    const { rows } = await system.query('SELECT node_id, id FROM disk ORDER BY id');
    const plan: BarePlan = {
      url: urls.apiUrl,
      routes: { create: [create.statements], get: ofGets, list: ofLists },
      fresh: [volume.id, ...volume.replicas.map(({ id }) => id)],
      name: volume.name,
      places: rows.map(({ node_id: node, id }) => [node, id]),
      recordedPlaces: volume.replicas.map(({ nodeId, diskId }) => [nodeId, diskId]),
    };
    return { plan, gets, lists };
  } finally {
    await app.nest.close();
  }
}

function asker({ fastify }: App, token: string) {
  return async (method: 'GET' | 'POST', url: string, payload?: object) => {
    let body: unknown;
    const statements = await statementsOf(async () => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fastify.inject({ method, url, headers, ...(payload && { payload }) });
      if (answer.statusCode >= 300) throw new Error(`${method} ${url}: ${answer.statusCode} ${answer.body}`);
      body = answer.json();
    });
    return { body, statements };
  };
}
