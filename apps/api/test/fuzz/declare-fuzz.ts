/**
 * Requests by chance against the whole API on a real Postgres. `HOLDFAST_FUZZ_REQUESTS` and `HOLDFAST_FUZZ_SEED` say how many and
 * which; a finding names its request, and the same seed finds it again.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiFixture } from '../api-fixture.js';
import { fuzz } from './fuzzer.js';
import { graphqlRequests } from './graphql.js';

/** It keeps its caller waiting for the worker, which does not run here. */
const VERIFY = 'POST /api/v1/clusters/{clusterId}/volumes/{volumeId}/verify';

/** It may limit the requests of a minute, and then all that follow are refused by that. */
const QUOTA = 'PUT /api/v1/organizations/{organizationId}/quota';

/** Declares the tests of a suite that sends so many requests. */
export function declareFuzz({ requests, seed }: { requests: number; seed: number }): void {
  let api: ApiFixture;
  beforeAll(async () => {
    api = await ApiFixture.start();
    for (const zone of ['a', 'b', 'c']) await api.createAttachedVolume(await api.node(`node-${zone}`, zone));
  });
  afterAll(() => api?.stop());

  test('no request makes the server fail, hang, or answer what its document does not describe', async () => {
    const { body: made } = await api.call('POST', '/tokens', { body: { name: 'fuzzer' } });
    const { body: tokens } = await api.call('GET', '/tokens');
    const report = await fuzz(api, {
      requests,
      seed,
      tokens: { user: String(made.token), agent: api.seed.agentToken },
      without: ['DELETE /api/v1/sessions', VERIFY, QUOTA],
      spared: new Set(tokens.items?.map(({ id }) => String(id))),
    });
    expect(report.findings).toEqual([]);
    console.info(JSON.stringify([...report.statuses]), 'only refused:', report.refusedOnly.join(', '));
    // Requests that are all refused would prove nothing.
    const answers = [...report.statuses.values()].reduce((sum, count) => sum + count, 0);
    const done = [...report.statuses].reduce((sum, [status, count]) => sum + (status < 300 ? count : 0), 0);
    expect(done / answers).toBeGreaterThan(0.1);
    expect(report.statuses.get(401) ?? 0).toBeLessThan(answers * 0.05);
  });

  test('no GraphQL request makes the server fail', async () => {
    const findings: string[] = [];
    let answered = 0;
    const asked = await graphqlRequests(api, ['query', 'mutation'], {
      requests: requests / 5,
      seed,
    });
    for (const { query, variables } of asked) {
      const { status, body } = await api.graphql(query, variables);
      const errors: readonly { extensions?: { code?: string } }[] = body.errors ?? [];
      const isBroken = status >= 500 || errors.some(({ extensions }) => extensions?.code === 'internal');
      if (isBroken)
        findings.push(
          `${query} ${JSON.stringify(variables)} → ${status} ${JSON.stringify(errors).slice(0, 300)}`,
        );
      if (errors.length === 0) answered += 1;
    }
    expect(findings.slice(0, 10)).toEqual([]);
    // Fewer than by REST: most of its fields are mutations, each beside its dry run, of objects that others have deleted.
    expect(answered).toBeGreaterThan(asked.length * 0.05);
  });

  test('no subscription makes the server fail', async () => {
    const port = await api.listen();
    const statuses = new Set<number>();
    const asked = await graphqlRequests(api, ['subscription'], { requests: requests / 5, seed });
    for (const request of asked) {
      const reader = new AbortController();
      const answer = await fetch(`http://127.0.0.1:${port}/graphql/stream`, {
        method: 'POST',
        headers: { authorization: `Bearer ${api.seed.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(request),
        signal: reader.signal,
      });
      statuses.add(answer.status);
      // One that is let in has no end.
      reader.abort();
    }
    expect([...statuses].filter((status) => status >= 500)).toEqual([]);
    expect(statuses).toContain(200);
  });
}
