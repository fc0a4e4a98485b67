import { StorageFault } from '@holdfast/core/model/faults.js';
import { mayReadMetrics } from '@holdfast/core/model/metrics-access.js';
import type { FastifyInstance } from 'fastify';
import { sendProblem } from '../../http/send-problem.js';
import type { ApiMetrics } from './api-metrics.js';

/** Serves `/metrics`, beside the API: it is for the operator, not for organizations. */
export function serveMetrics(fastify: FastifyInstance, metrics: ApiMetrics, token: string | undefined): void {
  fastify.get('/metrics', async (request, reply) => {
    const { headers, socket } = request;
    const scraper = {
      address: socket.remoteAddress,
      isForwarded: headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined,
      authorization: headers.authorization,
    };
    if (!mayReadMetrics(scraper, token)) {
      const refusal = new StorageFault('auth.forbidden', { publicMessage: 'metrics are for the operator' });
      return sendProblem(refusal, request, reply);
    }
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics.text());
  });
}
