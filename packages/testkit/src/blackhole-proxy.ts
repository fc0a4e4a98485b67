/** Proxy that swallows traffic without closing connections, as behind a switch that fails. */
import { once } from 'node:events';
import net from 'node:net';

/** Fate of a connection's requests, and of its answers. */
type Line = { isCut: boolean /** How many of the trap's texts it has sent. */; sprung: number };

export class BlackholeProxy {
  private readonly sockets = new Set<net.Socket>();
  private readonly lines = new Set<Line>();
  private isCut = false;
  private trap: readonly string[] = [];

  private constructor(
    private readonly server: net.Server,
    private readonly target: number,
  ) {}

  /** @param target a port on the loopback */
  static async to(target: number): Promise<BlackholeProxy> {
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new BlackholeProxy(server, target);
    server.on('connection', (client) => proxy.join(client));
    return proxy;
  }

  /** The address, with this on its way. */
  onWayTo(url: string): string {
    const through = new URL(url);
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy does not listen');
    through.port = String(address.port);
    return through.href;
  }

  /** How many connections it has, those that are cut among them. */
  get connections(): number {
    return this.lines.size;
  }

  /** From now on all is lost, on new connections too. */
  cut(): void {
    this.isCut = true;
    for (const line of this.lines) line.isCut = true;
  }

  /** Once a connection has sent these texts one after the other, the last one reaches the server, and all is lost from its answer on. */
  cutBehind(...texts: readonly string[]): void {
    this.trap = texts;
    for (const line of this.lines) line.sprung = 0;
  }

  /** New connections work. Those that were cut stay so. */
  mend(): void {
    this.isCut = false;
  }

  async close(): Promise<void> {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await once(this.server, 'close');
  }

  private join(client: net.Socket): void {
    const line: Line = { isCut: this.isCut, sprung: 0 };
    const server = net.connect(this.target, '127.0.0.1');
    this.lines.add(line);
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
    }
    client.on('data', (sent: Buffer) => {
      if (line.isCut) return;
      server.write(sent);
      this.watch(line, sent);
    });
    server.on('data', (answered: Buffer) => {
      if (!line.isCut) client.write(answered);
    });
    client.on('close', () => this.leave(line, client, server));
    server.on('close', () => this.leave(line, client, server));
  }

  private watch(line: Line, sent: Buffer): void {
    const text = this.trap[line.sprung];
    if (text === undefined || !sent.includes(text)) return;
    line.sprung += 1;
    if (line.sprung < this.trap.length) return;
    this.trap = [];
    this.cut();
  }

  /** On a line that is cut neither side hears that the other one has ended. */
  private leave(line: Line, client: net.Socket, server: net.Socket): void {
    if (line.isCut) return;
    client.destroy();
    server.destroy();
    this.lines.delete(line);
  }
}
