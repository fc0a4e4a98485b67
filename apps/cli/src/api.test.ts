import { describe, expect, test } from '@jest/globals';
import { type Answer, bodyIfFound, bodyOf, createApi, itemsOf, type PageQuery } from './api.js';
import { EXIT } from './exit-codes.js';
import type { Page } from './types.js';

const refused = (status: number, error: unknown): Promise<Answer<string>> =>
  Promise.resolve({ error, response: new Response(null, { status }) });
const given = <T>(data: T): Promise<Answer<T>> => Promise.resolve({ data, response: new Response() });

describe('an answer', () => {
  test('is its body', async () => {
    expect(await bodyOf(given('fine'))).toBe('fine');
  });

  test('that refuses says what is wrong and what would help', async () => {
    const problem = {
      detail: 'size must be larger',
      errors: [{ pointer: '/size', detail: 'must be larger' }],
      cures: ['choose a larger size'],
      requestId: 'r-1',
    };
    await expect(bodyOf(refused(422, problem))).rejects.toMatchObject({
      exitCode: EXIT.usage,
      message: 'size must be larger',
      hints: ['choose a larger size'],
    });
  });

  test('of a failing server names the request', async () => {
    await expect(bodyOf(refused(500, { detail: 'oh', requestId: 'r-1' }))).rejects.toMatchObject({
      exitCode: EXIT.unexpected,
      hints: ['request r-1'],
    });
  });

  test('of a proxy in between is understood by its status', async () => {
    await expect(bodyOf(refused(502, '<html>Bad gateway</html>'))).rejects.toMatchObject({
      exitCode: EXIT.unreachable,
      message: 'the API answered 502',
    });
  });

  test('about a missing object is undefined, where the caller asks for that', async () => {
    expect(await bodyIfFound(refused(404, {}))).toBeUndefined();
    await expect(bodyIfFound(refused(403, {}))).rejects.toMatchObject({ exitCode: EXIT.auth });
  });
});

test('a list is read page by page', async () => {
  const pages: Record<string, Page<number>> = {
    first: { items: [1, 2], nextCursor: 'second' },
    second: { items: [3], nextCursor: null },
  };
  const asked: PageQuery[] = [];
  const items = await itemsOf((query) => {
    asked.push(query);
    return given(pages[query.cursor ?? 'first'] ?? { items: [], nextCursor: null });
  });
  expect(items).toEqual([1, 2, 3]);
  expect(asked).toEqual([{ limit: 200 }, { limit: 200, cursor: 'second' }]);
});

test.each(['no-url', 'http://127.0.0.1:1/api/v1'])('an API at %s can not be reached', async (apiUrl) => {
  const ask = async () => createApi({ apiUrl, token: 't', clusterId: undefined }).GET('/clusters');
  await expect(ask()).rejects.toMatchObject({ exitCode: EXIT.unreachable });
});
