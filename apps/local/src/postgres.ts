import path from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import type { StackConfig } from './config.js';
import type { StackLog } from './stack-log.js';

/** Pause before a crashed Postgres is started again; its own recovery takes about half a second. */
const RESTART_PAUSE_MS = 250;

/** The stack's Postgres: the embedded one, which is started again when it dies, or the user's own (`DATABASE_URL`). */
export class StackPostgres {
  private embedded: EmbeddedPostgres | undefined;
  private stopping = false;

  constructor(
    private readonly config: StackConfig,
    private readonly log: StackLog,
  ) {}

  /** Starts it and returns the owner's URL. */
  async start(): Promise<string> {
    if (this.config.databaseUrl !== undefined) return this.config.databaseUrl;
    const embedded = await startEmbeddedPostgres({
      directory: path.join(this.config.home, 'postgres'),
      port: this.config.ports.postgres,
      log: this.log.note,
    });
    this.embedded = embedded;
    void embedded.exited.then(() => this.restart());
    return embedded.url;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.embedded?.stop();
  }

  private restart(): void {
    if (this.stopping) return;
    this.log.say('Postgres died; starting it again');
    setTimeout(() => {
      if (this.stopping) return;
      this.start().catch((error: unknown) => {
        this.log.say(`Postgres can't be started again: ${String(error)}`);
        this.restart();
      });
    }, RESTART_PAUSE_MS);
  }
}
