import { StorageFault } from '@holdfast/core/model/faults.js';
import { asksVerbose, type HealthCheck, isHealthy, namesOfFailed } from '@holdfast/core/model/health.js';
import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Route } from '../../access/route.decorator.js';
import { Readiness } from './readiness.js';

type Words = { readonly good: string; readonly bad: string };

/** Probes of supervisors, proxies and Kubernetes. With `?verbose` each check is listed with its result, as in Kubernetes. */
@Controller()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  /** The process runs. */
  @Get('livez')
  @Route({ access: 'public', summary: 'Alive' })
  alive(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const checks: HealthCheck[] = [{ name: 'process', status: 'ok' }];
    return answer(request, reply, { checks, words: { good: 'alive', bad: '' } });
  }

  /** The process can answer requests. */
  @Get('readyz')
  @Route({ access: 'public', summary: 'Ready' })
  async ready(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const checks = await this.readiness.checks();
    return answer(request, reply, { checks, words: { good: 'ready', bad: 'not ready' } });
  }

  /** The start is over: the process has been ready once. */
  @Get('startupz')
  @Route({ access: 'public', summary: 'Started' })
  async started(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const checks = await this.readiness.startChecks();
    return answer(request, reply, { checks, words: { good: 'started', bad: 'starting' } });
  }
}

/** @throws StorageFault `store.unavailable` if a check fails and the caller did not request the list */
function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { checks, words }: { checks: readonly HealthCheck[]; words: Words },
) {
  const status = isHealthy(checks) ? words.good : words.bad;
  if (asksVerbose(request.url)) {
    if (!isHealthy(checks)) void reply.code(503);
    return { status, checks };
  }
  if (isHealthy(checks)) return { status };
  throw new StorageFault('store.unavailable', { publicMessage: `${status}: ${namesOfFailed(checks)}` });
}
