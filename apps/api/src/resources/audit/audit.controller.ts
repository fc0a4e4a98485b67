import { Readable } from 'node:stream';
import { verifyChain } from '@holdfast/database/audit/verify.js';
import { listAuditEntries } from '@holdfast/database/queries/audit.js';
import { Body, Controller, Get, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { contentTypeOf, exportLines, requireExportable } from '../../access/export-lines.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { Databases } from '../../http/databases.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { AuditExportQuery, AuditPage, AuditVerificationDto, VerifyAuditBody } from './audit.schemas.js';
import { auditEntryView, verificationView } from './audit.view.js';
import { AuditSealing } from './audit-sealing.js';
import { AUDIT_EXPORT } from './export-audit.js';

/** Links per request, about a second; the caller continues where the answer ends. */
const VERIFIED_MAX = 50_000;

@Controller('api/v1/audit')
export class AuditController {
  constructor(
    private readonly databases: Databases,
    private readonly sealing: AuditSealing,
  ) {}

  @Get()
  @Route({ access: 'audit:read', summary: 'List the audit log, newest first', answer: AuditPage })
  async list(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    return pageView(await tenant.read((sql) => listAuditEntries(sql, query)), auditEntryView);
  }

  @Get('export')
  @Route({
    access: 'audit:read',
    summary: 'Export the audit log, oldest first, as a stream of lines',
    produces: ['application/x-ndjson', 'text/csv'],
  })
  async export(
    @CurrentTenant() tenant: Tenant,
    @Query() query: AuditExportQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await requireExportable(tenant, AUDIT_EXPORT, query);
    void reply.type(contentTypeOf(query)).send(Readable.from(exportLines(tenant, AUDIT_EXPORT, query)));
  }

  @Post('verify')
  @Route({
    access: 'audit:read',
    summary: 'Verify the audit log: recomputes its hashes and names the first changed entry',
    answer: AuditVerificationDto,
  })
  async verify(@CurrentTenant() tenant: Tenant, @Body() { after, expected }: VerifyAuditBody) {
    const { organizationId } = tenant.actor;
    await this.sealing.sealNow(organizationId);
    const scope = this.databases.organization(organizationId);
    return verificationView(
      await verifyChain(scope, { organizationId, after, expected, limit: VERIFIED_MAX }),
    );
  }
}
