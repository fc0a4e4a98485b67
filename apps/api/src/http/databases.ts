import { StorageFault } from '@holdfast/core/model/faults.js';
import type { OrganizationId } from '@holdfast/core/model/ids.js';
import { FairSlots } from '@holdfast/database/sql/fair-slots.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { organizationScope, type Scope, systemScope } from '@holdfast/database/sql/scope.js';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';

/**
 * Requests that need a connection at the same moment wait for one; more would only queue in Postgres instead. Two thirds of them keep two
 * cores busy; that is one organization's limit. All event streams of an organization read at once after an event, so many may wait.
 */
const TENANT_SLOTS = { slots: 12, ofOwner: 8, waitingOfOwner: 2_500, waiting: 8_000 };
/** Beside those: sign-ins and tokens are looked up before there is an organization. */
const SIGN_IN_CONNECTIONS = 2;
/** Heartbeats, and the note that they can be heard: short, and a few at a time. Nothing else uses these connections. */
const AGENT_CONNECTIONS_MAX = 4;
/** Sign-ins at providers, sealing of the audit log and removal of old rows. */
const SYSTEM_CONNECTIONS_MAX = 3;
/**
 * A request ends within 15 s even if the database fails, since programs and proxies usually wait for thirty: 5 s for a slot or a connection
 * (`scope.ts`, `pool.ts`), and 9 to 10 s until a silent connection is given up, a second more than the statement timeout.
 */
const STATEMENT_MS_MAX = 8_000;
/** Old rows are deleted by the thousand, and no user waits for that. */
const SYSTEM_STATEMENT_MS_MAX = 12_000;

/** Database access: as one organization, as the system, and as the system for agents alone. */
@Injectable()
export class Databases implements OnApplicationShutdown {
  private readonly api: Pool;
  private readonly systemPool: Pool;
  private readonly agentPool: Pool;
  private readonly slots = new FairSlots(TENANT_SLOTS, noConnection);

  constructor(urls: { databaseUrl: string; databaseSystemUrl: string }) {
    this.api = createPool(urls.databaseUrl, {
      connectionsMax: TENANT_SLOTS.slots + SIGN_IN_CONNECTIONS,
      applicationName: 'holdfast-api',
      pipeline: true,
      statementMsMax: STATEMENT_MS_MAX,
    });
    const asSystem = (connectionsMax: number, applicationName: string) =>
      createPool(urls.databaseSystemUrl, {
        connectionsMax,
        applicationName,
        statementMsMax: SYSTEM_STATEMENT_MS_MAX,
      });
    this.systemPool = asSystem(SYSTEM_CONNECTIONS_MAX, 'holdfast-api-system');
    this.agentPool = asSystem(AGENT_CONNECTIONS_MAX, 'holdfast-api-agents');
  }

  get load(): { readonly used: number; readonly waiting: number } {
    return this.slots.load;
  }

  /** For the two queries that run before the caller is authenticated. */
  get signIn(): Pool {
    return this.api;
  }

  /** @param caller the limits of its token within the organization, and the span of its request */
  organization(
    organizationId: OrganizationId,
    { limits, traceparent }: Pick<Scope, 'limits' | 'traceparent'> = {},
  ): Scope {
    return organizationScope(this.api, organizationId, { limits, slots: this.slots, traceparent });
  }

  system(): Scope {
    return systemScope(this.systemPool);
  }

  /** For agents' requests only: a node whose heartbeat waits would be taken for dead. */
  agents(): Scope {
    return systemScope(this.agentPool);
  }

  /**
   * Reports a broken tenant connection. After a restart of Postgres this comes before any new read, since all earlier connections have
   * broken.
   */
  onBroken(tell: () => void): void {
    this.api.on('connect', (client) => client.on('error', tell));
    // If Postgres ends while a statement runs, only that statement gets an error; the release still reports it.
    this.api.on('release', (error) => {
      if (error) tell();
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.api.end(), this.systemPool.end(), this.agentPool.end()]);
  }
}

function noConnection(): StorageFault {
  return new StorageFault('store.unavailable', {
    publicMessage: "the database is busy with this organization's other requests",
    cures: ['send fewer requests at once'],
    retryAfterSeconds: 2,
  });
}
