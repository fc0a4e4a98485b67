import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type JoinTokenId } from '@holdfast/core/model/ids.js';
import { deleteJoinToken, insertJoinToken, listJoinTokens } from '@holdfast/database/identity/join-tokens.js';
import { revokeIdentity } from '@holdfast/database/identity/node-identities.js';
import { joinTokenText } from '@holdfast/identity/join-token.js';
import { Body, Controller, Delete, Get, Inject, Param, Post, Query } from '@nestjs/common';
import { CurrentTenant } from '../../access/caller.js';
import { holdRight } from '../../access/hold-right.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import type { Config } from '../../config/config.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { CONFIG } from '../../http/tokens.js';
import { AgentCertificates } from '../agent/agent-certificates.js';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { requireCluster } from '../clusters/require-cluster.js';
import {
  CreateJoinTokenBody,
  JoinTokenPage,
  JoinTokenPath,
  joinTokenView,
  NewJoinTokenDto,
} from './join-token.schemas.js';
import { NodePath } from './node.schemas.js';
import { readNode } from './read-node.js';

const MINUTE_MS = 60_000;

/** Join tokens and revocation of agents' certificates. */
@Controller('api/v1/clusters/:clusterId')
export class JoinTokensController {
  constructor(
    private readonly certificates: AgentCertificates,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get('join-tokens')
  @Route({
    access: 'node:read',
    summary: 'List join tokens',
    answer: JoinTokenPage,
    refuses: ['cluster.not_found'],
  })
  async list(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Query() query: ListQuery,
  ) {
    return tenant.read(async (sql) => {
      await requireCluster(sql, clusterId);
      return pageView(await listJoinTokens(sql, clusterId, query), joinTokenView);
    });
  }

  @Post('join-tokens')
  @Route({
    access: 'node:write',
    summary: 'Create a token with which agents join the cluster',
    answer: NewJoinTokenDto,
    status: 201,
    answersSecret: true,
    refuses: ['cluster.not_found', 'idempotency.secret_not_kept'],
  })
  async create(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Body() body: CreateJoinTokenBody,
  ) {
    const fingerprint = await this.certificates.fingerprint();
    const secret = `hfj_${tenant.newSecret()}`;
    const token = {
      id: asId<JoinTokenId>(tenant.newId()),
      clusterId,
      name: body.name,
      nodeName: body.nodeName,
      uses: 0,
      usesMax: body.usesMax,
      expiresAt: new Date(tenant.now.getTime() + body.lifeMinutes * MINUTE_MS),
      createdAt: tenant.now,
      madeBy: tenant.actor.userId,
    };
    await tenant.write(async (sql) => {
      await requireCluster(sql, clusterId);
      await holdRight(sql, tenant, 'join token');
      await insertJoinToken(sql, { ...token, secret });
    });
    return {
      ...joinTokenView(token),
      token: joinTokenText({ secret, fingerprint }),
      apiUrl: this.config.agentUrl ?? null,
    };
  }

  @Delete('join-tokens/:joinTokenId')
  @Route({
    access: 'node:write',
    summary: 'Delete a join token; nodes that have joined with it stay',
    status: 204,
    refuses: ['join_token.not_found'],
  })
  async delete(@CurrentTenant() tenant: Tenant, @Param() path: JoinTokenPath): Promise<void> {
    if (await tenant.write((sql) => deleteJoinToken(sql, path))) return;
    throw new StorageFault('join_token.not_found', {
      publicMessage: `there is no join token ${path.joinTokenId}`,
    });
  }

  @Post('nodes/:nodeId/revoke-identity')
  @Route({
    access: 'node:write',
    summary: "Revoke the certificate of a node's agent: its requests are refused until it joins again",
    status: 204,
    refuses: ['node.not_found'],
  })
  async revoke(@CurrentTenant() tenant: Tenant, @Param() path: NodePath): Promise<void> {
    await readNode(tenant, path);
    await tenant.write((sql) => revokeIdentity(sql, { ...path, now: tenant.now }));
  }
}
