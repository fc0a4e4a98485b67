import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Command } from 'commander';
import { Context } from './context.js';
import { EXIT } from './exit-codes.js';

const CLUSTER = '0198a000-0000-7000-8000-00000000000c';
const id = (number: number) => `0198a000-0000-7000-8000-${String(number).padStart(12, '0')}`;
const VOLUMES = [
  { id: id(1), name: 'pg-data' },
  { id: id(2), name: 'in-two-projects' },
  { id: id(3), name: 'in-two-projects' },
  // A name may look like the id of another volume.
  { id: id(4), name: id(5) },
  { id: id(5), name: 'other' },
];

/** Answers like the API to requests for one volume, and records every request. */
let server: http.Server;
let asked: string[] = [];

beforeAll(async () => {
  server = http.createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://api');
    asked.push(decodeURIComponent(`${url.pathname}${url.search}`));
    const filter = /^name="(.*)"$/.exec(url.searchParams.get('filter') ?? '')?.[1];
    const one = VOLUMES.find((volume) => url.pathname.endsWith(`/volumes/${volume.id}`));
    const isList = url.pathname.endsWith('/volumes');
    const items = VOLUMES.filter(({ name }) => filter === undefined || name === filter);
    response.statusCode = isList || one !== undefined ? 200 : 404;
    response.end(
      JSON.stringify(isList ? { items, nextCursor: null } : (one ?? { code: 'volume.not_found' })),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  asked = [];
});

test('a volume is looked up by its name alone', async () => {
  expect(await context().volume('pg-data')).toMatchObject({ id: id(1) });
  expect(asked).toEqual([`/api/v1/clusters/${CLUSTER}/volumes?limit=200&filter=name="pg-data"`]);
});

test('a volume is read by its id', async () => {
  expect(await context().volume(id(1))).toMatchObject({ name: 'pg-data' });
  expect(asked.some((url) => url.endsWith('/volumes?limit=200'))).toBe(false);
});

test.each([
  ['there is none of that name', 'pg-dat', EXIT.notFound],
  ['there is none of that id', id(9), EXIT.notFound],
  ['no name can be like that', 'a"b', EXIT.notFound],
  ['two projects have one of that name', 'in-two-projects', EXIT.usage],
  ['one has the id of another as its name', id(5), EXIT.usage],
])('it is refused where %s', async (_, nameOrId, exitCode) => {
  await expect(context().volume(nameOrId)).rejects.toMatchObject({ exitCode });
});

test('what destroys is refused without a terminal to ask at, and done with --yes', async () => {
  await expect(context().confirm('This deletes volume v')).rejects.toMatchObject({
    exitCode: EXIT.usage,
    message: 'This deletes volume v',
  });
  await context({ yes: true }).confirm('This deletes volume v');
});

function context(more: Readonly<Record<string, unknown>> = {}): Context {
  const address = server.address() as AddressInfo; // it listens on TCP
  const options = {
    output: 'json',
    headers: true,
    color: false,
    timeout: '1s',
    token: 't',
    cluster: CLUSTER,
    ...more,
  };
  const command = new Command('test');
  for (const [name, value] of Object.entries(options)) command.setOptionValue(name, value);
  command.setOptionValue('endpoint', `http://127.0.0.1:${address.port}/api/v1`);
  return new Context(command);
}
