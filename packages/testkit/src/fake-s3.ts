/** An S3 server of our own over a fake target, which is as bad as real ones are on the wire: it slows down, cuts answers off, and is full. */
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ObjectStore } from '@holdfast/backup/store/object-store.js';
import { isFault } from '@holdfast/core/model/faults.js';
import { FakeTarget } from './fake-target.js';

/** What becomes of a request: answered, refused for the moment, answered with half of the content, or after so many milliseconds. */
export type WireFate = 'answered' | 'slow-down' | 'cut' | { readonly afterMs: number };

export const FAKE_BUCKET = 'backups';
const LIST_BYTES_MAX = 1024 ** 3;

export class FakeS3 {
  readonly target = new FakeTarget();
  readonly requests: { readonly method: string; readonly name: string }[] = [];
  fateOf: (method: string, name: string) => WireFate = () => 'answered';
  private readonly server = http.createServer((request, response) => {
    void this.handle(request, response);
  });

  private constructor(private readonly served?: ObjectStore) {}

  /** @param served what is served instead of the fake target: more than memory holds */
  static async start(served?: ObjectStore): Promise<FakeS3> {
    const fake = new FakeS3(served);
    await new Promise<void>((resolve) => fake.server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get endpoint(): string {
    const address = this.server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async handle(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.endpoint);
    const name = decodeURIComponent(url.pathname).split('/').slice(2).join('/');
    const method = request.method ?? '';
    this.requests.push({ method, name });
    const body: Buffer[] = [];
    for await (const part of request) body.push(part);
    const fate = this.fateOf(method, name);
    if (typeof fate === 'object') await sleep(fate.afterMs);
    if (fate === 'slow-down') return problem(response, 503, 'SlowDown');
    const store = this.served ?? this.target.connect();
    try {
      const answer = await answerTo(store, method, name, url, request.headers, Buffer.concat(body));
      answer(response, fate === 'cut');
    } catch (error) {
      if (isFault(error, 'backup.target_full')) problem(response, 507, 'InsufficientStorage');
      else problem(response, 403, 'AccessDenied');
    }
  }
}

type Answer = (response: http.ServerResponse, isCut: boolean) => void;

async function answerTo(
  store: ObjectStore,
  method: string,
  name: string,
  url: URL,
  headers: http.IncomingHttpHeaders,
  body: Buffer,
): Promise<Answer> {
  if (method === 'PUT') {
    const ifAbsent = headers['if-none-match'] === '*';
    const stored = await store.put(name, body, { ifAbsent });
    if (stored === 'exists') return (response) => problem(response, 412, 'PreconditionFailed');
    return (response) => response.writeHead(200, { etag: '"0"' }).end();
  }
  if (method === 'DELETE') {
    await store.delete(name);
    return (response) => response.writeHead(204).end();
  }
  if (name === '') return listing(store, url.searchParams.get('prefix') ?? '');
  const info = await store.head(name);
  const bytes = await store.get(name, LIST_BYTES_MAX);
  if (info === undefined || bytes === undefined) return (response) => problem(response, 404, 'NoSuchKey');
  const range = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '');
  const part = range === null ? bytes : bytes.subarray(Number(range[1]), Number(range[2]) + 1);
  return (response, isCut) => {
    response.writeHead(range === null ? 200 : 206, {
      'content-length': part.length,
      'last-modified': info.modifiedAt.toUTCString(),
    });
    if (method === 'HEAD') return void response.end();
    if (!isCut) return void response.end(part);
    response.write(part.subarray(0, part.length / 2), () => response.destroy());
  };
}

async function listing(store: ObjectStore, prefix: string): Promise<Answer> {
  const rows: string[] = [];
  for await (const { name, sizeBytes, modifiedAt } of store.list(prefix))
    rows.push(
      `<Contents><Key>${name}</Key><Size>${sizeBytes}</Size><LastModified>${modifiedAt.toISOString()}</LastModified></Contents>`,
    );
  const text = `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${rows.join('')}</ListBucketResult>`;
  return (response) => response.writeHead(200, { 'content-type': 'application/xml' }).end(text);
}

function problem(response: http.ServerResponse, status: number, code: string): void {
  response
    .writeHead(status, { 'content-type': 'application/xml' })
    .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}
