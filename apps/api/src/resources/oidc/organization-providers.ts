/** The OpenID providers of organizations, ready to sign in by. */
import type { OrganizationId } from '@holdfast/core/model/ids.js';
import {
  findProviderByName,
  findUsableProvider,
  type UsableProvider,
} from '@holdfast/database/queries/managed-accounts.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Inject, Injectable } from '@nestjs/common';
import type { Config } from '../../config/config.js';
import { Databases } from '../../http/databases.js';
import { CONFIG } from '../../http/tokens.js';
import { OidcClient } from './oidc-client.js';
import { addressesOfTenants } from './provider-guard.js';
import type { SignInEntry } from './provider-sign-ins.js';
import { CookieSeal } from './sealed-cookie.js';

/** A client's cached discovery takes a few kilobytes; fewer organizations than this sign in at a time. */
const CLIENTS_MAX = 200;

export type OrganizationEntry = SignInEntry & { readonly provider: UsableProvider };

@Injectable()
export class OrganizationProviders {
  /** By organization, in order of creation: each keeps its discovery until its configuration changes. */
  private readonly clients = new Map<OrganizationId, { version: number; client: OidcClient }>();

  constructor(
    private readonly databases: Databases,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async byName(organizationName: string): Promise<OrganizationEntry | undefined> {
    const found = await transaction(this.databases.system(), (sql) =>
      findProviderByName(sql, organizationName),
    );
    return found && this.entryOf(found);
  }

  async byId(organizationId: OrganizationId): Promise<OrganizationEntry | undefined> {
    const found = await transaction(this.databases.system(), (sql) =>
      findUsableProvider(sql, organizationId),
    );
    return found && this.entryOf(found);
  }

  private entryOf(provider: UsableProvider): OrganizationEntry {
    const { organizationId, cookieKey, domains, defaultRole } = provider;
    return {
      provider,
      client: this.clientOf(provider),
      seal: new CookieSeal(cookieKey),
      rules: { domains, roleOfGroup: new Map(), defaultRole },
      cookiePrefix: `${organizationId}.`,
      organization: async () => organizationId,
    };
  }

  private clientOf({ organizationId, version, clientId, clientSecret, issuer }: UsableProvider): OidcClient {
    const known = this.clients.get(organizationId);
    if (known?.version === version) return known.client;
    const networks = this.config.oidcNetworks ?? [];
    const client = new OidcClient({
      issuer: new URL(issuer),
      clientId,
      clientSecret,
      groupsClaim: undefined,
      check: (url) => addressesOfTenants(url, networks),
    });
    this.clients.delete(organizationId);
    const [oldest] = this.clients.keys();
    if (this.clients.size >= CLIENTS_MAX && oldest !== undefined) this.clients.delete(oldest);
    this.clients.set(organizationId, { version, client });
    return client;
  }
}
