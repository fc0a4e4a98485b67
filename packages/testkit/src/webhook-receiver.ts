/** A receiver of webhooks for tests: a real HTTP server that notes what came and answers as the test says. */
import { createHmac } from 'node:crypto';
import http from 'node:http';

/** A status; `hold`: no answer; `cut`: the connection ends instead. */
export type Answer = number | 'hold' | 'cut';
export type Received = {
  id: string;
  body: { type: string; data: { id: string } };
  isSignedBy(secret: string): boolean;
};

export class TestReceiver {
  readonly received: Received[] = [];
  /** The next answers, in order; then 204. */
  readonly answers: Answer[] = [];

  private constructor(private readonly server: http.Server) {}

  static async start(): Promise<TestReceiver> {
    const server = http.createServer();
    const receiver = new TestReceiver(server);
    server.on('request', (request, response) => void receiver.take(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    const address = this.server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/hook?x=1`;
  }

  get ids(): string[] {
    return this.received.map(({ id }) => id);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async take(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const header = (name: string) => String(request.headers[name]);
    const id = header('webhook-id');
    const content = `${id}.${header('webhook-timestamp')}.${text}`;
    const isSignedBy = (secret: string) => {
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
      const signature = `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
      return header('webhook-signature').split(' ').includes(signature);
    };
    this.received.push({ id, body: JSON.parse(text), isSignedBy });
    const answer = this.answers.shift() ?? 204;
    if (answer === 'cut') response.destroy();
    else if (answer !== 'hold') response.writeHead(answer, { location: this.url }).end();
  }
}
