import { assertVersion } from '@holdfast/control/use-cases/use-case.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { OrganizationId, UserId } from '@holdfast/core/model/ids.js';
import {
  changeSignInProvider,
  createSignInProvider,
  deleteSignInProvider,
  findSignInProvider,
  type SignInProviderRow,
} from '@holdfast/database/queries/sign-in-providers.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import { refusalOfReceiverUrl } from '@holdfast/identity/receiver-address.js';
import { Body, Controller, Delete, Get, Inject, Param, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { holdRight } from '../../access/hold-right.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import type { Config } from '../../config/config.js';
import { IfMatch, tagged } from '../../http/request.js';
import { CONFIG } from '../../http/tokens.js';
import { requireOrganization } from '../tenancy/require-tenancy.js';
import { OrganizationPath } from '../tenancy/tenancy.schemas.js';
import { PutSignInProviderBody, SignInProviderDto, signInProviderView } from './sign-in-provider.schemas.js';

/** The OpenID provider of one organization (ADR 0242). */
@Controller('api/v1/organizations/:organizationId/sign-in-provider')
export class SignInProviderController {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  @Get()
  @Route({
    access: 'sign-in-provider:read',
    summary: "Read the organization's own sign-in provider, without its secret",
    answer: SignInProviderDto,
    refuses: ['organization.not_found', 'sign_in_provider.not_found'],
  })
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() { organizationId }: OrganizationPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const found = await tenant.read((sql) => requireProvider(sql, organizationId));
    return tagged(reply, signInProviderView(found));
  }

  @Put()
  @Route({
    access: 'sign-in-provider:write',
    summary:
      "Set the OpenID provider by which users sign in to the organization; another issuer's are signed out",
    answer: SignInProviderDto,
    refuses: ['organization.not_found'],
  })
  async put(
    @CurrentTenant() tenant: Tenant,
    @Param() { organizationId }: OrganizationPath,
    @Body() body: PutSignInProviderBody,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    this.assertIssuer(body.issuer);
    const given = { ...body, issuer: new URL(body.issuer).href, domains: [...new Set(body.domains)] };
    const stored = await tenant.write(async (sql) => {
      await requireOrganization(sql, organizationId);
      const before = await findSignInProvider(sql, organizationId);
      assertVersion(before?.version ?? 0, ifVersion);
      await holdRight(sql, tenant, 'sign-in provider');
      await store(sql, {
        organizationId,
        before,
        given: { ...given, madeBy: tenant.actor.userId },
        now: tenant.now,
      });
      return requireProvider(sql, organizationId);
    }, targetOf(organizationId));
    return tagged(reply, signInProviderView(stored));
  }

  @Delete()
  @Route({
    access: 'sign-in-provider:write',
    summary: "Delete the organization's sign-in provider; its users stay members and are signed out",
    status: 204,
    refuses: ['organization.not_found', 'sign_in_provider.not_found'],
  })
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param() { organizationId }: OrganizationPath,
    @IfMatch() ifVersion: number | undefined,
  ): Promise<void> {
    await tenant.write(async (sql) => {
      assertVersion((await requireProvider(sql, organizationId)).version, ifVersion);
      await deleteSignInProvider(sql, organizationId);
    }, targetOf(organizationId));
  }

  /** The name's addresses are checked at each call. */
  private assertIssuer(issuer: string): void {
    const detail = refusalOfReceiverUrl(issuer, this.config.oidcNetworks ?? []);
    const isPlain = new URL(issuer).protocol === 'http:' && (this.config.oidcNetworks ?? []).length === 0;
    if (detail === undefined && !isPlain) return;
    throw invalid('/issuer', isPlain ? 'must be an https address' : 'is at an address that is not called', [
      'have the operator name its network in HOLDFAST_OIDC_NETWORKS',
    ]);
  }
}

async function requireProvider(sql: Sql, organizationId: OrganizationId): Promise<SignInProviderRow> {
  await requireOrganization(sql, organizationId);
  const found = await findSignInProvider(sql, organizationId);
  if (found !== undefined) return found;
  throw new StorageFault('sign_in_provider.not_found', {
    publicMessage: 'the organization has no sign-in provider of its own',
    cures: ['set one'],
  });
}

type Given = Omit<PutSignInProviderBody, 'clientSecret'> & {
  clientSecret?: string | undefined;
  madeBy: UserId;
};

async function store(
  sql: Sql,
  {
    organizationId,
    before,
    given,
    now,
  }: {
    organizationId: OrganizationId;
    before: SignInProviderRow | undefined;
    given: Given;
    now: Date;
  },
): Promise<void> {
  const { clientSecret } = given;
  // Otherwise the present secret would be sent to the other issuer, and one admin could so read another one's secret.
  if (clientSecret === undefined && before?.issuer !== given.issuer) {
    throw invalid('/clientSecret', 'is needed for the first issuer, and for another one', []);
  }
  if (before !== undefined) await changeSignInProvider(sql, before, given);
  else if (clientSecret !== undefined)
    await createSignInProvider(sql, organizationId, { ...given, clientSecret, createdAt: now });
}

/** In the audit log the target is the provider, not the organization in the address. */
function targetOf(organizationId: OrganizationId) {
  return { kind: 'signInProvider', id: organizationId };
}

function invalid(pointer: string, detail: string, cures: string[]): StorageFault {
  return new StorageFault('request.invalid', {
    publicMessage: `${pointer.slice(1)} ${detail}`,
    errors: [{ pointer, detail }],
    cures,
  });
}
