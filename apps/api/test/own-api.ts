/** The API within a suite's own process. Loading it takes seconds, which suites on the shared API do without. */
import {
  seedTestDatabase,
  startTestDatabase,
  type TestDatabase,
  type TestSeed,
} from '@holdfast/testkit/test-database.js';
import pg from 'pg';
import { type App, createApp } from '../src/app/app.js';
import type { Config } from '../src/config/config.js';
import { accessWithin } from './api-access.js';
import { ApiFixture } from './api-fixture.js';

/** The API in this process on a database of its own: for suites that configure it, look into it, close it or change rows of all. */
export class OwnApi extends ApiFixture {
  private constructor(
    database: Pick<TestDatabase, 'ownerUrl' | 'apiUrl' | 'systemUrl'>,
    readonly app: App,
    seed: TestSeed,
    owner: pg.Client,
    private readonly stopDatabase: () => Promise<void>,
  ) {
    super(
      database,
      accessWithin(app.fastify, () => OwnApi.listen(app)),
      seed,
      owner,
      undefined,
    );
  }

  static async begin(config: Partial<Config> = {}): Promise<OwnApi> {
    return OwnApi.on(await startTestDatabase(), config);
  }

  /** On a database in which nothing is yet. */
  static async on(database: TestDatabase, config: Partial<Config> = {}): Promise<OwnApi> {
    const seed = await seedTestDatabase(database);
    const owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    return new OwnApi(database, await appOn(database, config), seed, owner, () => database.stop());
  }

  /** Another api process on the same database, which the caller closes. */
  static async beside({ database, seed, owner }: OwnApi, config: Partial<Config> = {}): Promise<OwnApi> {
    return new OwnApi(database, await appOn(database, config), seed, owner, async () => undefined);
  }

  private static async listen({ nest, fastify }: App): Promise<void> {
    await nest.listen(0, '127.0.0.1');
    // Agents that come before there is a certificate are refused, and come again.
    await fastify.inject({ url: '/api/v1/agent/authorities' });
  }

  override async stop(): Promise<void> {
    await this.app.nest.close();
    await super.stop();
    await this.stopDatabase();
  }
}

function appOn(database: Pick<TestDatabase, 'apiUrl' | 'systemUrl'>, further: Partial<Config>): Promise<App> {
  return createApp({
    host: '127.0.0.1',
    port: 0,
    logLevel: 'silent',
    databaseUrl: database.apiUrl,
    databaseSystemUrl: database.systemUrl,
    cookieSecure: false,
    tokenDaysMax: 365,
    graphqlIntrospection: true,
    agentNetworks: [],
    nodeCertificateHours: 24,
    heartbeatIntervalMs: 2_000,
    ...further,
  });
}
