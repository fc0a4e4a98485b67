import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';
import { PageBuffers } from './page-buffers.js';
import { etagOf } from './request.js';
import { WrittenPage } from './written-page.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Answers that are pages: the next one also as a header (RFC 8288), for clients that follow links and know no cursors; and pages that are
 * JSON already are sent unchanged.
 */
@Injectable()
export class PageInterceptor implements NestInterceptor {
  private readonly buffers = new PageBuffers();

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    if (request.method !== 'GET') return next.handle();
    const reply = http.getResponse<FastifyReply>();
    return next.handle().pipe(
      map((answer: unknown) => {
        const cursor = nextCursorOf(answer);
        if (cursor !== undefined) void reply.header('link', `<${pageAt(request, cursor)}>; rel="next"`);
        if (!(answer instanceof WrittenPage)) return answer;
        void reply.header('content-type', JSON_TYPE).header('etag', etagOf(answer.hash));
        return answer.toBytes((lengthBytes) => {
          const { bytes, release } = this.buffers.lend(lengthBytes);
          // By then the kernel has the whole answer, or the caller has disconnected.
          reply.raw.once('close', release);
          return bytes;
        });
      }),
    );
  }
}

function nextCursorOf(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || !('nextCursor' in answer)) return undefined;
  return typeof answer.nextCursor === 'string' ? answer.nextCursor : undefined;
}

/** Relative to the host: a proxy may have given the request another one. */
function pageAt({ url }: FastifyRequest, cursor: string): string {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  searchParams.set('cursor', cursor);
  return `${pathname}?${searchParams}`;
}
