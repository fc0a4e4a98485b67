// Baseline of the API's benchmark: bare fastify and pg that send Postgres the statements which the API was seen to send for
// the same request, one after the other, and answer with their rows: a list of volumes holds the volumes and their replicas.
// Argument: a file with a BarePlan. Prints its port.
import fs from 'node:fs';
import { createPool } from '@holdfast/database/sql/pool.js';
import fastify from 'fastify';
import type { Statement } from './statements.js';

/** `GET /<route>/<n>` sends the statements of a route's n-th request, counted around. */
export type BarePlan = {
  readonly url: string;
  readonly routes: Readonly<Record<string, readonly (readonly Statement[])[]>>;
  /** Of the route `create`: what has to be another one each time, and the places that take turns. */
  readonly fresh: readonly string[];
  readonly name: string;
  readonly places: readonly (readonly [node: string, disk: string])[];
  readonly recordedPlaces: readonly (readonly [node: string, disk: string])[];
};

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('name the file with the plan');
const plan: BarePlan = JSON.parse(fs.readFileSync(file, 'utf8'));
const pool = createPool(plan.url, { connectionsMax: 10, applicationName: 'bench-bare' });
/** Up to where a server that remembers the fleet has read it: the next one reads what has changed since. */
let seen: string | undefined;

const server = fastify();
server.get<{ Params: { route: string; index: string } }>('/:route/:index', ({ params }) => {
  const requests = plan.routes[params.route] ?? [];
  return answer(requests[Number(params.index) % requests.length] ?? []);
});
server.post<{ Params: { index: string }; Body: object }>('/create/:index', async ({ params }, reply) => {
  const [recorded = []] = plan.routes.create ?? [];
  return reply.code(201).send(await answer(another(recorded, Number(params.index))));
});

async function answer(statements: readonly Statement[]): Promise<unknown> {
  const answered: unknown[] = [];
  const client = await pool.connect();
  try {
    for (const { text, values } of statements) {
      const isFleet = text.includes('AS transaction_id');
      const { rows } = await client.query(text, isFleet ? [values[0], seen, values[2]] : [...values]);
      if (isFleet) seen = rows[0].transaction_id;
      if (rows?.length > 0) answered.push(rows);
    }
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
  return answered;
}

/** The recorded creation, of another volume on other disks. */
function another(statements: readonly Statement[], index: number): Statement[] {
  const replace = new Map<string, string>(plan.fresh.map((id) => [id, crypto.randomUUID()]));
  replace.set(plan.name, `bare-${index}`);
  plan.recordedPlaces.forEach(([node, disk], at) => {
    const place = plan.places[(index * plan.recordedPlaces.length + at) % plan.places.length];
    if (place !== undefined) replace.set(node, place[0]).set(disk, place[1]);
  });
  const pattern = new RegExp([...replace.keys()].join('|'), 'g');
  return statements.map(({ text, values }) => ({
    text,
    values: JSON.parse(JSON.stringify(values).replace(pattern, (found) => replace.get(found) ?? found)),
  }));
}

await server.listen({ port: 0, host: '127.0.0.1' });
const address = server.server.address();
if (address !== null && typeof address !== 'string') console.log(address.port);
