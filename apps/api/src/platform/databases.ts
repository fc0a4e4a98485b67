import type { OrganizationId } from '@holdfast/core/model/ids.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import {
  organizationScope,
  type Scope,
  type ScopeLimits,
  systemScope,
} from '@holdfast/database/sql/scope.js';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';

/** Requests that need a connection at the same moment wait for one; more would only queue in Postgres instead. */
const API_CONNECTIONS_MAX = 10;
/** Heartbeats: short, and a few at a time. */
const SYSTEM_CONNECTIONS_MAX = 4;

/** The two ways into the database: as one organization, and as the system. */
@Injectable()
export class Databases implements OnApplicationShutdown {
  private readonly api: Pool;
  private readonly systemPool: Pool;

  constructor(urls: { databaseUrl: string; databaseSystemUrl: string }) {
    this.api = createPool(urls.databaseUrl, {
      connectionsMax: API_CONNECTIONS_MAX,
      applicationName: 'holdfast-api',
    });
    this.systemPool = createPool(urls.databaseSystemUrl, {
      connectionsMax: SYSTEM_CONNECTIONS_MAX,
      applicationName: 'holdfast-api-agents',
    });
  }

  /** For the two queries that run before the caller is authenticated. */
  get signIn(): Pool {
    return this.api;
  }

  /** @param limits of the caller's token, within the organization */
  organization(organizationId: OrganizationId, limits?: ScopeLimits): Scope {
    return organizationScope(this.api, organizationId, limits);
  }

  system(): Scope {
    return systemScope(this.systemPool);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.api.end(), this.systemPool.end()]);
  }
}
