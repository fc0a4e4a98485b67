import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { codeOf, sendProblem } from '../http/send-problem.js';
import './caller.js';
import { RefusedWrites } from './refused-writes.js';

/** Every error of every route leaves the process here, as a problem document. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly refused: RefusedWrites) {}

  catch(error: unknown, host: ArgumentsHost): unknown {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    if (request.isWrite === true && request.tenant !== undefined) {
      this.refused.note({ ...request.tenant.auditEntry(), reason: codeOf(error) });
    }
    return sendProblem(error, request, http.getResponse<FastifyReply>());
  }
}
