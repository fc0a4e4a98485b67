import { assertVersion } from '@holdfast/control/use-cases/use-case.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ClusterId, type SilenceId } from '@holdfast/core/model/ids.js';
import {
  changeSilenceEnd,
  countSilences,
  createSilence,
  findSilence,
  isMatcher,
  listSilences,
  type SilenceRow,
} from '@holdfast/database/queries/alerts.js';
import type { Page } from '@holdfast/database/queries/list-rows.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { holdRight } from '../../access/hold-right.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { IfMatch, tagged } from '../../http/request.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { requireCluster } from '../clusters/require-cluster.js';
import { CreateSilenceBody, SilenceDto, SilencePage, SilencePath, silenceView } from './alert.schemas.js';

/** A forgotten silence would hide other alerts. */
const DAYS_MAX = 90;
const DAY_MS = 24 * 3_600_000;
const SILENCES_MAX = 200;

@Controller('api/v1/clusters/:clusterId/silences')
export class SilencesController {
  @Get()
  @Route({
    access: 'alert:read',
    summary: 'List silences, ended ones included',
    answer: SilencePage,
    refuses: ['cluster.not_found'],
  })
  async list(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Query() query: ListQuery,
  ) {
    return pageView(await readSilences(tenant, clusterId, query), silenceView);
  }

  @Post()
  @Route({
    access: 'alert:write',
    summary: 'Suppress matching alerts for a time',
    answer: SilenceDto,
    status: 201,
    refuses: ['cluster.not_found', 'silence.too_many'],
  })
  async create(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Body() { matcher, comment, startsAt, endsAt }: CreateSilenceBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { organizationId, userId } = tenant.actor;
    const createdAt = tenant.now;
    const times = {
      startsAt: startsAt === undefined ? createdAt : new Date(startsAt),
      endsAt: new Date(endsAt),
    };
    const id = asId<SilenceId>(tenant.newId());
    const silence = { id, clusterId, matcher, comment, ...times, author: userId, version: 1, createdAt };
    assertReadable(silence);
    await tenant.write(async (sql) => {
      await requireCluster(sql, clusterId);
      if ((await countSilences(sql, clusterId, createdAt)) >= SILENCES_MAX) throw tooMany();
      await holdRight(sql, tenant, 'silence');
      await createSilence(sql, { ...silence, organizationId });
    });
    return tagged(reply, silenceView(silence));
  }

  @Get(':silenceId')
  @Route({
    access: 'alert:read',
    summary: 'Read a silence',
    answer: SilenceDto,
    refuses: ['silence.not_found'],
  })
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() path: SilencePath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, silenceView(await tenant.read((sql) => requireSilence(sql, path))));
  }

  @Delete(':silenceId')
  @Route({
    access: 'alert:write',
    summary: 'End a silence; alerts that still fire are announced',
    answer: SilenceDto,
    refuses: ['silence.not_found'],
  })
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param() path: SilencePath,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { now } = tenant;
    const ended = await tenant.write(async (sql) => {
      const found = await requireSilence(sql, path);
      assertVersion(found.version, ifVersion);
      // A silence that has not begun ends at its begin.
      if (found.endsAt > now) await changeSilenceEnd(sql, found, latest(found.startsAt, now));
      return requireSilence(sql, path);
    });
    return tagged(reply, silenceView(ended));
  }
}

export function readSilences(
  tenant: Tenant,
  clusterId: ClusterId,
  query: ListQuery,
): Promise<Page<SilenceRow>> {
  return tenant.read(async (sql) => {
    await requireCluster(sql, clusterId);
    return listSilences(sql, clusterId, query);
  });
}

async function requireSilence(
  sql: Sql,
  key: { clusterId: ClusterId; silenceId: SilenceId },
): Promise<SilenceRow> {
  const found = await findSilence(sql, key);
  if (found !== undefined) return found;
  throw new StorageFault('silence.not_found', { publicMessage: `there is no silence ${key.silenceId}` });
}

function assertReadable({ matcher, startsAt, endsAt, createdAt }: SilenceRow): void {
  if (!isMatcher(matcher)) throw invalid('/matcher', 'has to say which alerts');
  if (endsAt <= startsAt || endsAt <= createdAt)
    throw invalid('/endsAt', 'has to be in the future, after its start');
  if (endsAt.getTime() - createdAt.getTime() > DAYS_MAX * DAY_MS)
    throw invalid('/endsAt', `may be ${DAYS_MAX} days from now at most`);
}

function invalid(pointer: string, detail: string): StorageFault {
  return new StorageFault('request.invalid', {
    publicMessage: `${pointer.slice(1)} ${detail}`,
    errors: [{ pointer, detail }],
  });
}

function tooMany(): StorageFault {
  return new StorageFault('silence.too_many', {
    publicMessage: `the cluster has ${SILENCES_MAX} silences that have not ended, which is as many as it may have`,
    cures: ['end one', 'make one whose matcher says more'],
  });
}

function latest(a: Date, b: Date): Date {
  return new Date(Math.max(a.getTime(), b.getTime()));
}
