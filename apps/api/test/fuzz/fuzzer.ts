/**
 * Sends requests by chance to the API and judges each answer: no failure of the server, none that takes too long, none that its
 * document does not describe. What answers name is asked about by later requests.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import type { ApiFixture } from '../api-fixture.js';
import { type FuzzRequest, requestOf } from './requests.js';
import {
  answerSchema,
  answerTypes,
  type Document,
  itemParameters,
  operationsOf,
  readDocument,
  strictComponents,
} from './schema.js';
import { OPEN_ID } from './values.js';

/** A hang: every request of the API is answered in far less, on the slowest machine that runs tests. */
const ANSWER_MS_MAX = 120_000;
/** Requests that are under way at once. */
const AT_ONCE = 4;
const FINDINGS_MAX = 10;

export type FuzzOptions = {
  readonly requests: number;
  readonly seed: number;
  readonly tokens: { readonly user: string; readonly agent: string };
  /** Operations left out, by method and path: one that signs its caller out would end the run. */
  readonly without: readonly string[];
  /** Ids that no request may name: without them the fuzzer would lock itself out. */
  readonly spared: ReadonlySet<string>;
};
export type FuzzReport = {
  readonly findings: readonly string[];
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Operations that never answered with success. */
  readonly refusedOnly: readonly string[];
};

export async function fuzz(api: ApiFixture, options: FuzzOptions): Promise<FuzzReport> {
  const document = readDocument();
  const operations = operationsOf(document).filter(({ name }) => !options.without.includes(name));
  const perOperation = Math.ceil(options.requests / operations.length);
  const requests = operations.flatMap((operation, index) =>
    fc.sample(requestOf(operation, document), { seed: options.seed + index, numRuns: perOperation }),
  );
  const mixed = shuffled(requests, options.seed);
  const run = new Run(api, document, options);
  for (let first = 0; first < mixed.length && run.findings.length < FINDINGS_MAX; first += AT_ONCE) {
    await Promise.all(mixed.slice(first, first + AT_ONCE).map((request) => run.send(request)));
  }
  return {
    findings: run.findings,
    statuses: run.statuses,
    refusedOnly: operations.map(({ name }) => name).filter((name) => !run.done.has(name)),
  };
}

/** By a key of each place, so that the same seed gives the same order. */
function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const keys = fc.sample(fc.nat(), { seed, numRuns: items.length });
  return items
    .map((item, index) => ({ item, key: keys[index] ?? 0 }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

class Run {
  readonly findings: string[] = [];
  readonly statuses = new Map<number, number>();
  readonly done = new Set<string>();
  private readonly ids = new Map<string, string[]>();
  /** By the last parameter of an address: the ids of all its parameters, of things that were there. */
  private readonly places = new Map<string, Place[]>();
  private readonly items: ReadonlyMap<string, string>;
  private readonly judges = new Map<string, (body: unknown) => string | undefined>();
  private readonly ajv: Ajv2020.default;

  constructor(
    private readonly api: ApiFixture,
    private readonly document: Document,
    private readonly options: FuzzOptions,
  ) {
    this.items = itemParameters(document);
    this.ajv = new Ajv2020.default({ strict: false, allErrors: false });
    addFormats.default(this.ajv);
    this.ajv.addSchema({ $id: 'api', components: strictComponents(document) });
    this.learn('clusterId', api.seed.clusterId);
    this.places.set('clusterId', [{ clusterId: api.seed.clusterId }]);
  }

  async send(request: FuzzRequest): Promise<void> {
    const { operation } = request;
    const place = this.placeOf(request);
    const url = this.urlOf(request, place);
    const payload =
      request.raw ?? (request.body === undefined ? undefined : JSON.stringify(this.filled(request.body)));
    const token = operation.path.startsWith('/api/v1/agent/')
      ? this.options.tokens.agent
      : this.options.tokens.user;
    const asked = this.api.send({
      method: operation.method,
      url,
      headers: {
        authorization: `Bearer ${token}`,
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(payload === undefined ? {} : { payload }),
    });
    const answer = await Promise.race([asked, sleep(ANSWER_MS_MAX, undefined, { ref: false })]);
    if (answer === undefined) {
      this.findings.push(`${operation.method} ${url.slice(0, 300)}: no answer within ${ANSWER_MS_MAX} ms`);
      return;
    }
    const { statusCode: status } = answer;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    const type = String(answer.headers['content-type'] ?? '').split(';')[0] ?? '';
    const why = this.judge(request, status, { type, text: answer.body });
    if (why !== undefined)
      this.findings.push(
        `${operation.method} ${url.slice(0, 300)} ${payload?.slice(0, 300) ?? ''}\n  → ${status}: ${why}`,
      );
    if (status < 300) {
      this.done.add(operation.name);
      if (isJson(type)) this.learnFrom(operation.path, place, answer.body);
    }
  }

  private judge(
    { operation }: FuzzRequest,
    status: number,
    { type, text }: { type: string; text: string },
  ): string | undefined {
    if (status >= 500) return text.slice(0, 500);
    const schema = answerSchema(operation, status, this.document);
    if (schema === undefined)
      return text === '' ? undefined : `a body that is not described: ${text.slice(0, 200)}`;
    if (!answerTypes(operation, status, this.document).includes(type))
      return `a body of a type that is not described: ${type}`;
    if (!isJson(type)) return undefined;
    const key = `${operation.name} ${operation.responses[status] === undefined ? 'default' : status}`;
    let judge = this.judges.get(key);
    if (judge === undefined) {
      const validate = this.ajv.compile(absolute(schema));
      judge = (body) => (validate(body) ? undefined : this.ajv.errorsText(validate.errors));
      this.judges.set(key, judge);
    }
    const wrong = judge(JSON.parse(text));
    return wrong === undefined ? undefined : `${wrong} in ${text.slice(0, 300)}`;
  }

  /** What the request is about: for open ids something that was there, most of the time. */
  private placeOf({ operation, path }: FuzzRequest): Place {
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
    const last = names.at(-1) ?? '';
    const at = Number(OPEN_ID.exec(path[last] ?? '')?.[1] ?? 0);
    const known = this.places.get(last) ?? this.places.get(names.at(-2) ?? '') ?? [];
    const place = known[Math.floor(at / 8) % Math.max(1, known.length)] ?? {};
    return Object.fromEntries(
      names.map((name) => {
        const text = path[name] ?? '';
        const isOpen = OPEN_ID.test(text);
        return [
          name,
          isOpen && at % 8 !== 0 && place[name] !== undefined ? place[name] : this.idFor(name, text),
        ];
      }),
    );
  }

  private urlOf({ operation, query }: FuzzRequest, place: Place): string {
    const filled = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(place[name] || '-'));
    const search = Object.entries(query).map(([name, value]) => `${name}=${encoded(this.idFor('', value))}`);
    return search.length === 0 ? filled : `${filled}?${search.join('&')}`;
  }

  /** An id of the kind that the parameter names, most of the time. */
  private idFor(parameter: string, text: string): string {
    const at = OPEN_ID.exec(text)?.[1];
    if (at === undefined) return text;
    const all = [...this.ids.values()].flat();
    const own = this.ids.get(parameter) ?? all;
    const pool = Number(at) % 8 === 0 ? all : own;
    return pool[Math.floor(Number(at) / 8) % Math.max(1, pool.length)] ?? NO_ID;
  }

  private filled(value: unknown, name = ''): unknown {
    if (typeof value === 'string') return this.idFor(name, value);
    if (Array.isArray(value)) return value.map((item) => this.filled(item, name.replace(/s$/, '')));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([field, item]) => [field, this.filled(item, field)]),
    );
  }

  private learnFrom(path: string, place: Place, text: string): void {
    if (text === '') return;
    const parameter = this.items.get(path);
    for (const item of listed(JSON.parse(text))) {
      const own = String(item.id ?? item.name ?? '');
      if (parameter !== undefined && this.learn(parameter, own)) {
        const places = this.places.get(parameter) ?? [];
        this.places.set(parameter, places);
        places.push({ ...place, [parameter]: own });
      }
      for (const [name, value] of Object.entries(item))
        if (/\wId$/.test(name)) this.learn(name, String(value));
    }
  }

  /** @returns whether it is new */
  private learn(parameter: string, id: string): boolean {
    const isLawful = UUID.test(id) || (!parameter.endsWith('Id') && id !== '');
    if (!isLawful || this.options.spared.has(id)) return false;
    const known = this.ids.get(parameter) ?? [];
    this.ids.set(parameter, known);
    if (known.length >= IDS_MAX || known.includes(id)) return false;
    known.push(id);
    return true;
  }
}

/** Ids or names, by the parameters of an address. */
type Place = Readonly<Record<string, string>>;

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
const NO_ID = '0193a1b2-0000-7000-8000-000000000000';
const IDS_MAX = 200;

function listed(body: unknown): Record<string, unknown>[] {
  if (typeof body !== 'object' || body === null) return [];
  const items = 'items' in body && Array.isArray(body.items) ? body.items : [body];
  return items.filter((item): item is Record<string, unknown> => typeof item === 'object' && item !== null);
}

/** Half a character can't stand in an address. */
function encoded(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/g, '?'));
}

/** References of the document point into it from wherever a part of it is compiled. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/'));
}

function isJson(type: string): boolean {
  return type === 'application/json' || type === 'application/problem+json';
}
