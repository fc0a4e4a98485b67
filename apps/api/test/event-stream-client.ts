import http from 'node:http';

type Message = {
  id?: string;
  event?: string;
  data?: {
    message?: string;
    event?: string[];
    cluster?: string[];
    clusterId?: string;
    subject?: { kind: string; id: string };
  };
};

/** A client of the stream that keeps what it has got, and can be waited on. */
export class EventStreamClient {
  readonly messages: Message[] = [];
  /** Resolves when the server has ended it. */
  readonly ended: Promise<void>;
  hasEnded = false;
  private buffer = '';
  private endedBy: string | undefined;
  private waiting: (() => void)[] = [];

  constructor(private readonly request: http.ClientRequest) {
    let end: () => void = () => undefined;
    this.ended = new Promise((resolve) => {
      end = resolve;
    });
    const ends = (why: string) => {
      this.endedBy ??= why;
      this.hasEnded = true;
      end();
      this.wakeWaiting();
    };
    request.on('response', (response) => {
      response.on('close', () => ends(`status ${response.statusCode}`));
      response.setEncoding('utf8');
      response.on('data', (text: string) => this.take(text));
      response.on('error', () => {});
    });
    request.on('error', ({ message }) => ends(message));
    request.end();
  }

  /** @param at.clusterId left out: of all clusters */
  static open(
    at: { port: number; clusterId?: string; filter?: string; as?: 'ids'; token: string },
    lastEventId?: string,
  ): EventStreamClient {
    const below = at.clusterId === undefined ? '' : `/clusters/${at.clusterId}`;
    const { filter, as } = at;
    const query = new URLSearchParams({ ...(filter === undefined ? {} : { filter }), ...(as && { as }) });
    return new EventStreamClient(
      http.request({
        port: at.port,
        path: `/api/v1${below}/events/stream?${query}`,
        headers: {
          authorization: `Bearer ${at.token}`,
          ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
        },
      }),
    );
  }

  /** @throws Error if the stream has ended before: nothing more can come */
  async until(done: (messages: Message[]) => boolean): Promise<Message[]> {
    while (!done(this.messages)) {
      if (this.hasEnded) throw new Error(`the stream has ended (${this.endedBy}) before what is waited for`);
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    return this.messages;
  }

  get events(): Message[] {
    return this.messages.filter(({ event }) => event === 'event');
  }

  close(): void {
    this.request.destroy();
  }

  private take(text: string): void {
    this.buffer += text;
    const blocks = this.buffer.split('\n\n');
    this.buffer = blocks.pop() ?? '';
    for (const block of blocks) this.messages.push(parse(block));
    this.wakeWaiting();
  }

  private wakeWaiting(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

function parse(block: string): Message {
  const lines = block.split('\n').map((line) => line.split(/: (.*)/s));
  const value = (name: string) => lines.find(([key]) => key === name)?.[1];
  const [id, event, data] = [value('id'), value('event'), value('data')];
  return {
    ...(id === undefined ? {} : { id }),
    ...(event === undefined ? {} : { event }),
    ...(data === undefined ? {} : { data: JSON.parse(data) }),
  };
}
