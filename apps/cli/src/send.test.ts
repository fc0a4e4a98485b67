import { describe, expect, test } from '@jest/globals';
import { quoted } from './curl.js';
import { type CliError, EXIT } from './exit-codes.js';
import { pauseAfter, reasonOf, type SendOptions, Shown, sender, unreachable } from './send.js';

const API = 'http://api.test/api/v1';

/** A server that gives these answers in order, and records the requests. */
function serving(...answers: (Response | Error)[]) {
  const sent: Request[] = [];
  const fetch: SendOptions['fetch'] = async (request) => {
    sent.push(request);
    const answer = answers.shift();
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error('no more answers');
    return answer;
  };
  return { sent, options: { apiUrl: API, fetch } };
}

const post = () => new Request(`${API}/volumes`, { method: 'POST', body: '{"name":"a"}' });
const keyOf = (request: Request | undefined) => request?.headers.get('idempotency-key');

describe('a repeat', () => {
  test('of a POST has the key of the first, and every other POST one of its own', async () => {
    const { sent, options } = serving(
      new Error('the connection was reset'),
      new Response(null, { status: 503 }),
      Response.json({}),
      Response.json({}),
    );
    const send = sender(options);
    expect((await send(post())).status).toBe(200);
    await send(post());
    const keys = sent.map(keyOf);
    expect(keys[0]).toMatch(/^[\w-]{36}$/);
    expect(keys.slice(0, 3)).toEqual([keys[0], keys[0], keys[0]]);
    expect(keys[3]).not.toBe(keys[0]);
  });

  test('of a deletion is not made: the first may have been done', async () => {
    const { sent, options } = serving(new Response(null, { status: 503 }));
    const answer = await sender(options)(new Request(`${API}/volumes/v`, { method: 'DELETE' }));
    expect(answer.status).toBe(503);
    expect(sent).toHaveLength(1);
  });

  test('is given up in the end, as an API that does not answer', async () => {
    const down = () => new Error('down');
    const { sent, options } = serving(down(), down(), down());
    await expect(sender(options)(new Request(API))).rejects.toMatchObject({ exitCode: EXIT.unreachable });
    expect(sent).toHaveLength(3);
  });
});

test.each<[string, Error, string]>([
  ['nothing listens', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), 'nothing listens there'],
  [
    'a host is unknown',
    Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }),
    'there is no host of that name',
  ],
])('a request that fails as %s says so in plain words', (_, cause, told) => {
  expect(reasonOf(new TypeError('fetch failed', { cause }), new Request(API))).toBe(told);
  const both = new AggregateError([cause, cause]);
  expect(reasonOf(new TypeError('fetch failed', { cause: both }), new Request(API))).toBe(told);
});

test('a request without an answer says how long it was waited for', () => {
  const error = new DOMException('aborted', 'TimeoutError');
  expect(reasonOf(error, new Request(API))).toBe('no answer within 20 s');
  expect(reasonOf(error, post())).toBe('no answer within 75 s');
});

describe('the pause before a repeat', () => {
  const refused = (status: number, retryAfter?: string) =>
    new Response(null, { status, headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter } });

  test.each<[string, Response | CliError, number, number | undefined, number | undefined]>([
    ['a refusal that says no more', refused(503), 20, 150, 150],
    ['no answer', unreachable(API, 'it is down'), 20, 150, 150],
    ['the last one', refused(503), 20, undefined, undefined],
    ['what another request would be told too', refused(409, '1'), 20, 150, undefined],
    ['a pause that is asked for', refused(503, '1'), 20, 150, 1_000],
    ['a shorter one', refused(503, '0'), 20, 150, 150],
    ['one that is too long', refused(503, '6'), 20, 150, undefined],
    ['a date', refused(503, 'Fri, 31 Dec 1999 23:59:59 GMT'), 20, 150, 150],
    ['a refusal that took long itself', refused(503, '1'), 10_000, 150, undefined],
    ['an answer that was waited for too long', unreachable(API, 'nothing came'), 90_000, 150, undefined],
  ])('after %s is as long as it is worth the wait', (_what, outcome, tookMs, pauseMs, want) => {
    expect(pauseAfter(outcome, tookMs, pauseMs)).toBe(want);
  });
});

test('a key that is given is that of the first POST', async () => {
  const { sent, options } = serving(Response.json({}), Response.json({}));
  const send = sender({ ...options, idempotencyKey: 'mine' });
  await send(post());
  await send(post());
  expect(keyOf(sent[0])).toBe('mine');
  expect(keyOf(sent[1])).not.toBe('mine');
});

describe('a dry run', () => {
  const plan = { dryRun: true, changes: true };

  test('asks for the plan of a change, shows it, and ends there', async () => {
    const shown: unknown[] = [];
    const { sent, options } = serving(
      Response.json(plan, { headers: { 'content-type': 'application/vnd.holdfast.dry-run+json' } }),
    );
    const send = sender({ ...options, isDryRun: true, showPlan: (one) => shown.push(one) });
    await expect(send(post())).rejects.toBeInstanceOf(Shown);
    expect(sent[0]?.url).toBe(`${API}/volumes?dryRun=true`);
    expect(keyOf(sent[0])).toBeNull();
    expect(shown).toEqual([plan]);
  });

  test('of what things do not allow ends with the code for that', async () => {
    const { options } = serving(Response.json({ detail: 'it is attached' }, { status: 409 }));
    await expect(sender({ ...options, isDryRun: true })(post())).rejects.toMatchObject({
      exitCode: EXIT.unsatisfied,
      message: 'it is attached',
    });
  });

  test('reads as ever', async () => {
    const { sent, options } = serving(Response.json({}));
    await sender({ ...options, isDryRun: true })(new Request(`${API}/volumes`));
    expect(sent[0]?.url).toBe(`${API}/volumes`);
  });
});

describe('as curl commands', () => {
  test('requests are shown without their token, and changes not made', async () => {
    const shown: string[] = [];
    const { sent, options } = serving(Response.json({}));
    const send = sender({ ...options, isCurl: true, show: (text) => shown.push(text) });
    await send(new Request(`${API}/volumes`, { headers: { authorization: 'Bearer hf_secret' } }));
    await expect(send(post())).rejects.toBeInstanceOf(Shown);
    expect(sent).toHaveLength(1);
    expect(shown[0]).toBe(`curl -sS '${API}/volumes' -H "Authorization: Bearer $HOLDFAST_TOKEN"`);
    expect(shown[1]).toContain(`curl -sS -X POST '${API}/volumes'`);
    expect(shown[1]).toContain(`--data-raw '{"name":"a"}'`);
    expect(shown.join()).not.toContain('hf_secret');
  });

  test('hold nothing that a shell would run', () => {
    expect(quoted(`a'; rm -rf "$HOME" '`)).toBe(`'a'\\''; rm -rf "$HOME" '\\'''`);
  });
});
