import { describe, expect, test } from '@jest/globals';
import { copyForms } from './copy-forms';

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
