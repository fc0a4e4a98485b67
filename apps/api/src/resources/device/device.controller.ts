import { randomInt } from 'node:crypto';
import { strongestRole } from '@holdfast/access/permissions.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type TokenId } from '@holdfast/core/model/ids.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import { writeAuditEntry } from '@holdfast/database/queries/audit.js';
import {
  approveDeviceLogin,
  createDeviceLogin,
  findDeviceLogin,
  takeDeviceLogin,
} from '@holdfast/database/queries/device-logins.js';
import { createToken, NO_LIMITS } from '@holdfast/database/queries/tokens.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Body, Controller, Get, Inject, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { RefusedSignIns } from '../../access/refused-sign-ins.js';
import { Route } from '../../access/route.decorator.js';
import { SignInLimits } from '../../access/sign-in-limits.js';
import type { Tenant } from '../../access/tenant.js';
import { newTokenSecret } from '../../access/token-secret.js';
import type { Config } from '../../config/config.js';
import { Databases } from '../../http/databases.js';
import { CONFIG } from '../../http/tokens.js';
import { traceIdOf } from '../../http/trace-id.js';
import {
  DeviceCodePath,
  DeviceStartDto,
  DeviceTokenBody,
  DeviceTokenDto,
  StartDeviceBody,
  WaitingDeviceDto,
} from './device.schemas.js';

/** Without vowels, so that no words arise, and without similar letters (RFC 8628, 6.1). */
const CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const CODE_LENGTH = 8;
const LIFE_SECONDS = 10 * 60;
const POLL_SECONDS = 3;
const TOKEN_DAYS = 90;
const DAY_MS = 86_400_000;

/** Sign-in of programs without a browser, such as the CLI (docs/design/tenancy-and-access.md). */
@Controller('api/v1/device')
export class DeviceController {
  private readonly limits: SignInLimits;

  constructor(
    private readonly databases: Databases,
    @Inject(CONFIG) private readonly config: Config,
    private readonly refusedSignIns: RefusedSignIns,
  ) {
    this.limits = new SignInLimits(databases.signIn);
  }

  @Post('start')
  @Route({
    access: 'public',
    summary: 'Start the sign-in of a program, which shows its user the code',
    answer: DeviceStartDto,
    status: 201,
    refuses: ['request.rate_limited'],
  })
  async start(@Body() { name }: StartDeviceBody, @Req() request: FastifyRequest) {
    const deviceCode = `hfd_${systemRandom.secret()}`;
    const letters = Array.from({ length: CODE_LENGTH }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]);
    const userCode = letters.join('');
    const expiresAt = new Date(systemClock.now().getTime() + LIFE_SECONDS * 1_000);
    const login = { secret: deviceCode, userCode, name, address: request.ip, expiresAt };
    if (!(await transaction(this.databases.system(), (sql) => createDeviceLogin(sql, login)))) {
      throw new StorageFault('request.rate_limited', {
        publicMessage: 'too many programs of this address wait to be approved',
        retryAfterSeconds: LIFE_SECONDS,
      });
    }
    const shown = `${userCode.slice(0, CODE_LENGTH / 2)}-${userCode.slice(CODE_LENGTH / 2)}`;
    const page = new URL('/device', this.config.consoleUrl ?? `${request.protocol}://${request.host}`);
    return {
      deviceCode,
      userCode: shown,
      verificationUri: page.href,
      // In the fragment, which browsers do not send: the code is for the page's user.
      verificationUriComplete: `${page.href}#${shown}`,
      expiresInSeconds: LIFE_SECONDS,
      intervalSeconds: POLL_SECONDS,
    };
  }

  @Get(':userCode')
  @Route({
    access: 'token:own',
    summary: 'Read the program that waits for the approval of a code',
    answer: WaitingDeviceDto,
    refuses: ['device.not_found', 'request.rate_limited'],
  })
  waiting(
    @CurrentTenant() tenant: Tenant,
    @Param() { userCode }: DeviceCodePath,
    @Req() request: FastifyRequest,
  ) {
    return this.guessed(tenant, request, () =>
      transaction(this.databases.system(), (sql) => findDeviceLogin(sql, userCode, tenant.now)),
    );
  }

  @Post(':userCode/approve')
  @Route({
    access: 'token:own',
    summary: "Approve a program's code: it then acts as the caller",
    answer: WaitingDeviceDto,
    refuses: ['device.not_found', 'request.rate_limited'],
  })
  async approve(
    @CurrentTenant() tenant: Tenant,
    @Param() { userCode }: DeviceCodePath,
    @Req() request: FastifyRequest,
  ) {
    const { userId, organizationId, tokenKind } = tenant.actor;
    const role = strongestRole(tenant.actor.role, tenant.actor.projectRoles);
    const approver = { userId, organizationId, role };
    await this.waiting(tenant, { userCode }, request);
    // The program would not inherit a token's limits.
    if (tokenKind !== 'session') {
      throw new StorageFault('auth.forbidden', {
        publicMessage: 'a program is approved by a user who has signed in, not by a token',
        cures: ['sign in to the console, and approve it there'],
      });
    }
    return this.guessed(tenant, request, () =>
      transaction(this.databases.system(), async (sql) => {
        const approved = await approveDeviceLogin(sql, userCode, approver, tenant.now);
        if (approved !== undefined) await writeAuditEntry(sql, { ...tenant.auditEntry(), detail: approved });
        return approved;
      }),
    );
  }

  @Post('token')
  @Route({
    access: 'public',
    summary: "Fetch the program's token, once, after its user has approved the code",
    answer: DeviceTokenDto,
    answersSecret: true,
    refuses: ['device.not_found', 'device.waiting', 'request.rate_limited', 'idempotency.secret_not_kept'],
  })
  async token(@Body() { deviceCode }: DeviceTokenBody, @Req() request: FastifyRequest) {
    const now = systemClock.now();
    const attempted = { account: deviceCode };
    const taken = await this.refusedSignIns.attempt(request, this.limits, attempted, () =>
      transaction(this.databases.system(), async (sql) => {
        const login = await takeDeviceLogin(sql, deviceCode, now);
        if (login === undefined) throw notFound();
        if (login === 'waiting') return undefined;
        const { name, ...user } = login;
        const days = Math.min(TOKEN_DAYS, this.config.tokenDaysMax);
        const token = {
          ...user,
          id: asId<TokenId>(systemRandom.id()),
          kind: 'api' as const,
          name,
          secret: newTokenSecret('api'),
          projectId: undefined,
          expiresAt: new Date(now.getTime() + days * DAY_MS),
        };
        await createToken(sql, { ...token, ...NO_LIMITS, now });
        await writeAuditEntry(sql, {
          organizationId: user.organizationId,
          actor: { kind: 'user/device', id: user.userId },
          address: request.ip,
          action: 'POST /api/v1/device/token',
          target: { kind: 'token', id: token.id },
          requestId: request.id,
          traceId: traceIdOf(request),
          detail: { name },
          at: now,
        });
        return { token: token.secret, tokenId: token.id, expiresAt: token.expiresAt.toISOString() };
      }),
    );
    if (taken !== undefined) return taken;
    throw new StorageFault('device.waiting', {
      publicMessage: 'its user has not approved the code yet',
      retryAfterSeconds: POLL_SECONDS,
    });
  }

  /** A code is short, so guesses of one user are limited. */
  private guessed<T>(
    tenant: Tenant,
    request: FastifyRequest,
    find: () => Promise<T | undefined>,
  ): Promise<T> {
    const attempt = { account: `device ${tenant.actor.userId}`, address: request.ip };
    return this.limits.attempt(attempt, async () => {
      const found = await find();
      if (found === undefined) throw notFound();
      return found;
    });
  }
}

function notFound(): StorageFault {
  return new StorageFault('device.not_found', {
    publicMessage: 'no program waits with this code: it was used, has ended, or is another one',
    cures: ['begin again with `holdfast auth login`'],
  });
}
