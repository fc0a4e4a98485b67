import type net from 'node:net';
import type { Engine } from '../src/engine/engine.js';
import { NbdClient } from '../src/nbd/client.js';
import { NbdServer } from '../src/nbd/server.js';
import type { NbdServerConnection } from '../src/nbd/server-connection.js';

const NAME = 'vol.with-a-secret';
/** The tick interval of an engine host, in milliseconds. */
const TICK_MS = 250;

/** An engine's volume behind an NBD port, as clients reach it. */
export class ServedVolume {
  readonly connections: NbdServerConnection[] = [];
  private readonly sockets = new Set<net.Socket>();

  private constructor(
    readonly port: number,
    private readonly server: NbdServer,
    private readonly timer: NodeJS.Timeout,
  ) {}

  static async start(engine: Engine): Promise<ServedVolume> {
    const server = new NbdServer({
      directory: {
        describe: (name) => (name === NAME ? engine.device : undefined),
      },
      accept: (socket, negotiated, rest) => {
        volume.sockets.add(socket);
        volume.connections.push(engine.serve(socket, negotiated, rest));
      },
    });
    const { port } = await server.listen('127.0.0.1', 0);
    const timer = setInterval(() => engine.tick(performance.now()), TICK_MS);
    const volume = new ServedVolume(port, server, timer);
    return volume;
  }

  readonly exportName = NAME;

  get uri(): string {
    return `nbd://127.0.0.1:${this.port}/${NAME}`;
  }

  connect(): Promise<NbdClient> {
    return NbdClient.connect({ host: '127.0.0.1', port: this.port, exportName: NAME }, 5000);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    for (const socket of this.sockets) socket.destroy();
    await this.server.close();
  }
}
