/** Examples of the OpenAPI document: each is sent to the API, which understands it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openApiDocument } from './openapi-document.js';
import { OwnApi } from './own-api.js';

type Content = Record<string, { schema: { properties?: object }; example?: object }>;
type Operation = {
  operationId: string;
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, { content: Content }> };
};

const DOCUMENT = openApiDocument<Document>();
const EXAMPLES = Object.entries(DOCUMENT.paths)
  .filter(([path]) => !path.startsWith('/api/v1/agent/'))
  .flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) => {
      const body = requestBody?.content['application/json'];
      const hasFields = Object.keys(body?.schema.properties ?? {}).length > 0;
      return hasFields ? [{ name: `${method.toUpperCase()} ${path}`, example: body?.example }] : [];
    }),
  );
/** Statuses that say that a request was not understood. */
const NOT_UNDERSTOOD = [400, 415, 422];

let api: OwnApi;
const ids: Record<string, string> = {};
let otherOrganizationId: string;

beforeAll(async () => {
  api = await OwnApi.begin();
  ({ organizationId: otherOrganizationId } = await api.otherTenant());
  const volume = await api.createVolume();
  const nodeId = await api.node('node-1', 'zone-a');
  const { rows } = await api.owner.query('SELECT user_id AS "userId" FROM membership LIMIT 1');
  Object.assign(ids, {
    ...rows[0],
    clusterId: api.seed.clusterId,
    organizationId: api.seed.organizationId,
    projectId: api.seed.projectId,
    nodeId,
    volumeId: volume.id,
    name: 'default-replica-count',
    recurringName: 'nightly',
  });
});
afterAll(() => api?.stop());

test('every body with fields has an example', () => {
  expect(EXAMPLES.length).toBeGreaterThan(35);
  expect(EXAMPLES.filter(({ example }) => example === undefined).map(({ name }) => name)).toEqual([]);
});

describe('the API understands the example of', () => {
  test.each(EXAMPLES.map(({ name, example }) => [name, example] as const))(
    '%s as it stands',
    async (name, body) => {
      const [method = '', path = ''] = name.split(' ');
      const filled = path
        .replace('/api/v1', '')
        .replace(
          /\{(\w+)\}/g,
          (_, parameter: string) => ids[parameter] ?? '01a1fd5b-0000-7000-8000-0000000000ff',
        );
      const answer = await api.call(method, filled, { body: asOfNow(body) });
      const why = JSON.stringify(answer.body);
      expect({ why, isUnderstood: !NOT_UNDERSTOOD.includes(answer.status) }).toEqual({
        why,
        isUnderstood: true,
      });
      expect(answer.status).toBeLessThan(500);
    },
  );
});

/** A document can't say in an hour, nor who else is there: these values of an example are put in. */
function asOfNow(body: object | undefined): object | undefined {
  const then = new Date(Date.now() + 3_600_000).toISOString();
  const current = { until: then, endsAt: then, organizationId: otherOrganizationId };
  const known = Object.entries(current).filter(([field]) => body !== undefined && field in body);
  return body === undefined ? undefined : { ...body, ...Object.fromEntries(known) };
}

test('every refusal shows a problem document with one of its codes', () => {
  for (const [name, { content }] of Object.entries(DOCUMENT.components.responses)) {
    const example = content['application/problem+json']?.example;
    expect(example).toMatchObject({ status: Number(name.split('_')[0]), title: expect.any(String) });
    expect(name).toContain((example as { code: string }).code);
  }
});
