// Load generator, a lean HTTP/1.1 client: it shares the machine's two cores with what it measures, so it parses no more
// than it needs.
import net from 'node:net';

const HEAD_END = '\r\n\r\n';

export type Answer = { readonly status: number; readonly head: string; readonly ms: number };

export type LoadOptions = {
  readonly port: number;
  readonly connections: number;
  readonly count: number;
  readonly request: (index: number) => Buffer;
  readonly onAnswer?: (answer: Answer) => void;
};

/** The rate of a load, and how often each status was answered. */
export type LoadResult = { readonly perSecond: number; readonly statuses: ReadonlyMap<number, number> };

/** Sends `count` requests over `connections` kept-alive connections, one at a time on each. */
export async function load({
  port,
  connections,
  count,
  request,
  onAnswer = () => {},
}: LoadOptions): Promise<LoadResult> {
  let next = 0;
  const statuses = new Map<number, number>();
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: connections }, () =>
      onConnection(
        port,
        () => (next < count ? request(next++) : undefined),
        (answer) => {
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          onAnswer(answer);
        },
      ),
    ),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  return { perSecond: count / seconds, statuses };
}

export function post(path: string, token: string, body: object): Buffer {
  const payload = Buffer.from(JSON.stringify(body));
  const head =
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n` +
    `content-type: application/json\r\ncontent-length: ${payload.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), payload]);
}

export function get(path: string, token: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`);
}

/** Sends one request after the other on a connection. Answers must have a content-length, as the API's do. */
function onConnection(
  port: number,
  nextRequest: () => Buffer | undefined,
  onAnswer: (answer: Answer) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    let received = '';
    let sentAt = 0;
    const send = () => {
      const request = nextRequest();
      if (request === undefined) {
        socket.end();
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(request);
    };
    socket.setEncoding('latin1');
    socket.once('connect', send);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the server closed a connection')));
    socket.on('data', (chunk: string) => {
      received += chunk;
      const headLength = received.indexOf(HEAD_END);
      if (headLength < 0) return;
      const head = received.slice(0, headLength);
      const bodyLength = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (received.length < headLength + HEAD_END.length + bodyLength) return;
      received = '';
      onAnswer({ status: Number(head.slice(9, 12)), head, ms: performance.now() - sentAt });
      send();
    });
  });
}
