import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type UserId } from '@holdfast/core/model/ids.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import { hashPassword } from '@holdfast/database/credentials.js';
import { writeAuditEntry } from '@holdfast/database/queries/audit.js';
import { isFirstLink, useFirstLink } from '@holdfast/database/queries/first-account.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Body, Controller, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { RefusedSignIns } from '../../access/refused-sign-ins.js';
import { Route } from '../../access/route.decorator.js';
import { SignInLimits } from '../../access/sign-in-limits.js';
import { Databases } from '../../http/databases.js';
import { dto } from '../../http/dto.js';
import { uuid } from '../../http/schemas.js';
import { traceIdOf } from '../../http/trace-id.js';
import { newPassword } from './session.schemas.js';

class FirstAccountBody extends dto(
  z.strictObject({
    secret: z.string().min(1).max(512).describe('Secret of the one-time link printed by the installation.'),
    email: z.email().max(320).toLowerCase().describe("E-mail address for the first owner's sign-in."),
    name: z.string().trim().min(1).max(200).describe("The owner's name, for people."),
    password: newPassword,
  }),
) {}

class FirstAccountDto extends dto(
  z
    .object({
      userId: uuid.describe('Id of the first owner.'),
      organizationId: uuid.describe('Id of the organization.'),
      email: z.string().describe('E-mail address to sign in with.'),
    })
    .meta({ id: 'FirstAccount' }),
) {}

/** The first owner of a fresh control plane, made with the one-time link (docs/design/tenancy-and-access.md). */
@Controller('api/v1/first-account')
export class FirstAccountController {
  private readonly limits: SignInLimits;

  constructor(
    private readonly databases: Databases,
    private readonly refusedSignIns: RefusedSignIns,
  ) {
    this.limits = new SignInLimits(databases.signIn);
  }

  @Post()
  @Route({
    access: 'public',
    summary: 'Create the first account, with the one-time link of a fresh installation',
    answer: FirstAccountDto,
    status: 201,
    refuses: ['first_link.not_found', 'request.rate_limited'],
  })
  async create(@Body() body: FirstAccountBody, @Req() request: FastifyRequest) {
    const { secret, email, name, password } = body;
    const system = this.databases.system();
    const now = systemClock.now();
    // Hashing is expensive, so it is done only for callers with a valid link.
    await this.refusedSignIns.attempt(request, this.limits, { account: secret }, async () => {
      if (!(await transaction(system, (sql) => isFirstLink(sql, secret, now)))) throw noLink();
    });
    const id = asId<UserId>(systemRandom.id());
    const account = { id, email, name, passwordHash: await hashPassword(password) };
    const organizationId = await transaction(system, async (sql) => {
      const found = await useFirstLink(sql, secret, account, now);
      if (found === undefined) throw noLink();
      await writeAuditEntry(sql, {
        organizationId: found,
        actor: { kind: 'user/first-link', id },
        address: request.ip,
        action: 'POST /api/v1/first-account',
        target: { kind: 'user', id },
        requestId: request.id,
        traceId: traceIdOf(request),
        detail: { email },
        at: now,
      });
      return found;
    });
    return { userId: id, organizationId, email };
  }
}

function noLink(): StorageFault {
  return new StorageFault('first_link.not_found', {
    publicMessage: 'there is no such link: it has been used, has expired, or a newer one was made',
    cures: ['make another one by running the preparation again, while there is no account'],
  });
}
