import { describe, expect, test } from '@jest/globals';
import { copyForms, questionForms } from './copy-forms';

describe('what is copied', () => {
  test('of a volume is a command, a request and the whole of it', () => {
    const read = { cli: ['volume', 'show', 'pg-data'], path: '/api/v1/volumes/1', value: { id: '1' } };
    expect(copyForms(read, 'http://h:1').map(({ text }) => text)).toEqual([
      'npx holdfast volume show pg-data',
      'curl -sS -H "authorization: Bearer $HOLDFAST_TOKEN" http://h:1/api/v1/volumes/1',
      '{\n  "id": "1"\n}',
    ]);
  });

  test('is one word for a shell, whatever a name has in it', () => {
    const read = { cli: ['volume', 'show', "a'b; rm"], path: '/', body: { name: "it's" }, value: null };
    const [cli, curl] = copyForms(read, '').map(({ text }) => text);
    expect(cli).toBe(`echo '{"name":"it'\\''s"}' | npx holdfast volume show 'a'\\''b; rm'`);
    expect(curl).toContain(`-d '{"name":"it'\\''s"}'`);
  });
});

test('a question of a page is asked by the CLI and by curl with its filter, without a token', () => {
  const question = {
    path: '/clusters/{clusterId}/events',
    query: { filter: "type=A OR message='b c'", sort: '' },
  };
  const forms = questionForms(question, { clusterId: 'c1', isList: true }, 'https://holdfast.example');
  const query = 'filter=type%3DA+OR+message%3D%27b+c%27';
  expect(forms).toEqual([
    { label: 'CLI', text: `npx holdfast api GET '/clusters/{clusterId}/events?${query}' --paginate` },
    {
      label: 'curl',
      text: `curl -sS -H "authorization: Bearer $HOLDFAST_TOKEN" 'https://holdfast.example/api/v1/clusters/c1/events?${query}'`,
    },
  ]);
});
