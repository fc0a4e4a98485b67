import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Observable, tap } from 'rxjs';

/** The next page of a list also as a header (RFC 8288), for clients that follow links and know no cursors. */
@Injectable()
export class NextLinkInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    if (request.method !== 'GET') return next.handle();
    return next.handle().pipe(
      tap((answer: unknown) => {
        const cursor = nextCursorOf(answer);
        if (cursor === undefined) return;
        void http.getResponse<FastifyReply>().header('link', `<${pageAt(request, cursor)}>; rel="next"`);
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
