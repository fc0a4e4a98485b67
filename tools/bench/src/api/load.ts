// Load generator, a lean HTTP/1.1 client: it shares the machine's two cores with what it measures, so it parses no more
// than it needs.
import net from 'node:net';

const HEAD_END = '\r\n\r\n';
/** Of each connection, for all that arrives: memory for each piece would be a lot to clear away at hundreds of lists a second. */
const RECEIVED_BYTES = 64 * 1024;

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
    let arriving = new ArrivingAnswer();
    let sentAt = 0;
    const buffer = Buffer.alloc(RECEIVED_BYTES);
    const take = (bytes: number) => {
      arriving.take(buffer.subarray(0, bytes));
      const { head, isComplete } = arriving;
      if (!isComplete) return;
      onAnswer({ status: Number(head.slice(9, 12)), head, ms: performance.now() - sentAt });
      send();
    };
    const callback = (bytes: number) => {
      try {
        take(bytes);
      } catch (error) {
        // Thrown here, it would end this process and leave its servers behind.
        reject(error);
        socket.destroy();
      }
      return true;
    };
    const onread = { buffer, callback };
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true, onread });
    const send = () => {
      const request = nextRequest();
      if (request === undefined) {
        socket.end();
        resolve();
        return;
      }
      arriving = new ArrivingAnswer();
      sentAt = performance.now();
      socket.write(request);
    };
    socket.once('connect', send);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the server closed a connection')));
  });
}

/**
 * An answer of which the head is read, and the body only counted. A head that was cut out of a text with the body kept that whole
 * text in memory, and this process stood still for up to a tenth of a second to clear it.
 */
class ArrivingAnswer {
  head = '';
  private bytesLeft: number | undefined;

  get isComplete(): boolean {
    return this.bytesLeft !== undefined && this.bytesLeft <= 0;
  }

  take(bytes: Buffer): void {
    if (this.bytesLeft !== undefined) {
      this.bytesLeft -= bytes.length;
      return;
    }
    // The servers write it in one piece, of a few hundred bytes.
    const headBytes = bytes.indexOf(HEAD_END);
    if (headBytes < 0) throw new Error('the head of an answer did not arrive in one piece');
    this.head = bytes.toString('latin1', 0, headBytes);
    const bodyBytes = Number(/content-length: (\d+)/i.exec(this.head)?.[1] ?? 0);
    this.bytesLeft = headBytes + HEAD_END.length + bodyBytes - bytes.length;
  }
}
