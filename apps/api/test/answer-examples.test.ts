/**
 * Examples of answers in the OpenAPI document: each named schema has one, and it is valid. They are recorded from the API itself,
 * but for those that hand a secret over, which are written here; with HOLDFAST_WRITE_PAGES=1 all are written anew.
 */
import fs from 'node:fs';
import { expect, test } from '@jest/globals';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ANSWER_EXAMPLES } from '../src/openapi/answer-examples.js';
import { REQUEST_EXAMPLES } from '../src/openapi/examples.js';
import { readDocument, strictComponents } from './fuzz/schema.js';
import { makeOneOfEach } from './one-of-each.js';
import { OwnApi } from './own-api.js';
import { recordedExample } from './recorded-examples.js';

const FILE = new URL('../src/platform/answer-examples.ts', import.meta.url);
const ANSWER = /"application\/json":\{"schema":\{"\$ref":"#\/components\/schemas\/(\w+)"/;
const DOCUMENT = readDocument();
const [USER, ORGANIZATION, TOKEN] = [1, 2, 3].map(
  (number) => `01a1fd5b-0000-7000-8000-${String(number).padStart(12, '0')}`,
);
const SIGNED_IN = { userId: USER, organizationId: ORGANIZATION };
const EXPIRES = { expiresAt: '2026-01-01T12:00:00.000Z' };

/** What it would take another user's secret to be answered. */
const WRITTEN: Readonly<Record<string, object>> = {
  BegunSignIn: { url: 'https://id.example.org/authorize?client_id=holdfast&state=af0ifjsldkj' },
  OpenInvitation: {
    organizationId: ORGANIZATION,
    organizationName: 'research',
    email: 'guest@example.test',
    role: 'viewer',
    ...EXPIRES,
    page: 'https://console.example.org/invitation#hfi_secret',
  },
  AcceptedInvitation: { ...SIGNED_IN, email: 'guest@example.test', role: 'viewer' },
  DeviceToken: { token: 'hft_….', tokenId: TOKEN, ...EXPIRES },
  FirstAccount: { ...SIGNED_IN, email: 'owner@example.test' },
  Session: { token: 'hfs_….', ...EXPIRES, ...SIGNED_IN, role: 'owner' },
  WaitingDevice: { name: 'holdfast CLI on laptop', address: '192.0.2.7' },
};

/** Operations with the schema of what they answer; agents' own are no users'. */
const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, operation]) => {
    const answers = Object.entries(operation.responses).filter(([status]) => status < '300');
    const schema = ANSWER.exec(JSON.stringify(answers))?.[1];
    const id = 'operationId' in operation ? String(operation.operationId) : '';
    if (schema === undefined || path.endsWith('/stream') || path.startsWith('/api/v1/agent/')) return [];
    return [{ path, method, id, schema }];
  }),
);
const SCHEMAS = [...new Set(OPERATIONS.map(({ schema }) => schema))].sort();

// One for all examples: schemas that several of them are made of are compiled once.
const AJV = new Ajv2020.default({ strict: false });
addFormats.default(AJV);
AJV.addSchema({ $id: 'api', components: strictComponents(DOCUMENT) });

if (process.env.HOLDFAST_WRITE_PAGES === '1') {
  test('the examples are recorded', async () => {
    const answers = await recorded();
    expect(SCHEMAS.filter((name) => !answers.has(name))).toEqual([]);
    fs.writeFileSync(FILE, sourceOf(answers));
  });
} else {
  test('each answer has an example', () => {
    expect(SCHEMAS.filter((name) => !Object.hasOwn(ANSWER_EXAMPLES, name))).toEqual([]);
    expect(Object.keys(ANSWER_EXAMPLES).filter((name) => !SCHEMAS.includes(name))).toEqual([]);
  });

  test.each(Object.entries(ANSWER_EXAMPLES))(
    'the example of %s is one, and stands in the document',
    (name, text) => {
      const validate = AJV.compile({ $ref: `api#/components/schemas/${name}` });
      const example: unknown = JSON.parse(text);
      expect([validate(example), AJV.errorsText(validate.errors)]).toEqual([true, 'No errors']);
      expect(DOCUMENT.components.schemas[name]).toMatchObject({ examples: [example] });
    },
  );
}

/** Asks the API by each operation until each schema has an answer: first what only reads. */
async function recorded(): Promise<Map<string, string>> {
  const api = await OwnApi.begin();
  const answers = new Map<string, string>();
  try {
    const ids = await makeOneOfEach(api);
    const inOrder = [...OPERATIONS].sort((a, b) => rank(a.method) - rank(b.method));
    for (const [name, example] of Object.entries(WRITTEN)) answers.set(name, JSON.stringify(example));
    for (const { path, method, id, schema } of inOrder) {
      if (answers.has(schema)) continue;
      const filled = path
        .replace('/api/v1', '')
        .replace(/\{(\w+)\}/g, (_, key: string) => ids[key] ?? 'missing');
      const example = id === 'replicas_planMove' ? { nodeId: ids.nodeId } : REQUEST_EXAMPLES[id];
      const body = method === 'get' ? {} : { body: example ?? {} };
      const answer = await api.call(method.toUpperCase(), filled, body);
      if (answer.status < 300) answers.set(schema, JSON.stringify(recordedExample(answer.body)));
    }
  } finally {
    await api.stop();
  }
  return answers;
}

function rank(method: string): number {
  return ['get', 'post', 'put', 'patch', 'delete'].indexOf(method);
}

function sourceOf(answers: ReadonlyMap<string, string>): string {
  const lines = [...answers]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, text]) => `  ${name}: '${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}',`);
  return [
    '/**',
    ' * Examples of answers, by the name of their schema: JSON as the API has answered it. Recorded by their test, not written by hand.',
    ' */',
    'export const ANSWER_EXAMPLES: Readonly<Record<string, string>> = {',
    ...lines,
    '};',
    '',
  ].join('\n');
}
