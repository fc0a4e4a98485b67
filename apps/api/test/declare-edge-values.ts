/** Values at edges: each field of each request at its bounds, beyond them, and at those of what stores it. Never a failure of the server. */

import { asId, type DiskId, type ReplicaId, type VolumeId } from '@holdfast/core/model/ids.js';
import { aDiskReport, aHeartbeat, anEngineReport, aRebuildReport } from '@holdfast/testkit/builders.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';
import { type EdgeRequest, edgeRequests } from './edge-values.js';
import { readDocument } from './fuzz/schema.js';
import { makeOneOfEach } from './one-of-each.js';
import { openApiDocument } from './openapi-document.js';
import type { TestAgent } from './test-agent.js';

const HEARTBEAT = '/api/v1/agent/heartbeat';
/** It keeps its caller waiting for the worker, which does not run here. */
const VERIFY = '/verify';
/** A limit of requests in a minute would refuse all that follow. */
const QUOTA = 'quota';
/** Requests that are under way at once. */
const AT_ONCE = 8;

/** @param every so many requests one is sent, so that each operation has some; 1: all */
export function declareEdgeValues({ every }: { every: number }): void {
  let api: ApiFixture;
  let agent: TestAgent;
  let ids: Record<string, string>;

  beforeAll(async () => {
    api = await ApiFixture.start();
    ids = await makeOneOfEach(api);
    agent = await api.agent('node-edge');
  });
  afterAll(() => api?.stop());

  test('the heartbeat in which fields are changed is a lawful one', async () => {
    const heartbeat = exampleOf({ method: 'POST', path: HEARTBEAT });
    expect(await agent.call('/agent/heartbeat', JSON.stringify(heartbeat))).toMatchObject({ status: 200 });
  });

  test('no number and no text at an edge makes the server fail, whichever field holds it', async () => {
    const all = [...edgeRequests(readDocument(), exampleOf)].filter(
      ({ path }, at) => at % every === 0 && !path.endsWith(VERIFY) && !path.endsWith(QUOTA),
    );
    expect(all.length).toBeGreaterThan(3_000 / every);
    const failed: string[] = [];
    let taken = 0;
    for (let at = 0; at < all.length; at += AT_ONCE) {
      const slice = all.slice(at, at + AT_ONCE);
      const answers = await Promise.all(slice.map((request) => statusOf({ api, agent, ids }, request)));
      answers.forEach((status, index) => {
        if (status < 300) taken += 1;
        if (status >= 500) failed.push(`${slice[index]?.where}: ${status}`);
      });
    }
    expect(failed).toEqual([]);
    // Edges that are lawful are taken, so that they reach what stores them.
    expect(taken).toBeGreaterThan(100 / every);
  });
}

type Callers = { readonly api: ApiFixture; readonly agent: TestAgent; readonly ids: Record<string, string> };

async function statusOf(
  { api, agent, ids }: Callers,
  { method, path, query, body }: EdgeRequest,
): Promise<number> {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? ids.clusterId ?? '') + query;
  const short = filled.replace('/api/v1', '');
  if (path.startsWith('/api/v1/agent/')) {
    return (await agent.call(short, method === 'GET' ? '' : JSON.stringify(body ?? {}), method)).status;
  }
  const payload = body === undefined ? {} : { payload: JSON.stringify(body) };
  const headers = { authorization: `Bearer ${api.seed.token}`, 'content-type': 'application/json' };
  return (await api.send({ method, url: filled, headers, ...payload })).statusCode;
}

const DOCUMENTED = openApiDocument<{ paths: Record<string, Record<string, Documented>> }>();
type Documented = { requestBody?: { content: Record<string, { example?: unknown }> } };

/** A lawful body, in which one field is changed: what the document shows, or what an agent sends. */
function exampleOf({ method, path }: { method: string; path: string }): unknown {
  if (path === HEARTBEAT) {
    const disk = aDiskReport(asId<DiskId>('01a1fd5b-0000-7000-8000-00000000f001'));
    const volumeId = asId<VolumeId>('01a1fd5b-0000-7000-8000-00000000f002');
    const engine = anEngineReport({
      volumeId,
      epoch: 1,
      rebuilds: [aRebuildReport({ rebuildId: volumeId })],
    });
    const replicaId = asId<ReplicaId>('01a1fd5b-0000-7000-8000-00000000f003');
    const copy = { replicaId, volumeId, diskId: disk.diskId, writtenBytes: 0, record: null };
    return { ...aHeartbeat('node-edge', { disks: [disk] }), replicas: [copy], engines: [engine] };
  }
  return DOCUMENTED.paths[path]?.[method.toLowerCase()]?.requestBody?.content['application/json']?.example;
}
