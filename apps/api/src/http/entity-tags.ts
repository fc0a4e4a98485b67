/**
 * Entity tags of answers (RFC 9110): a client sends the tag of an earlier answer and gets 304 if nothing has changed. The tag of an object
 * begins with its version, which is all that `If-Match` compares; the rest covers derived parts of the answer, such as a copy's state,
 * which change without a new version.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { contentHash } from './content-hash.js';
import { etagOf } from './request.js';

const VERSION = /^"(\d+)"$/;

export function addEntityTags(fastify: FastifyInstance): void {
  fastify.addHook('onSend', async (request, reply, payload) => {
    if (!isTagged(request, reply)) return payload;
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    // Encoded once, for the hash and for the socket: a page of volumes is 100 kB.
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
    const tag = tagOf(bytes, reply.getHeader('etag'));
    void reply.header('etag', tag);
    if (!isKnown(request.headers['if-none-match'], tag)) return bytes;
    void reply.code(304).removeHeader('content-type').removeHeader('content-length');
    return '';
  });
}

function isTagged({ method, routeOptions }: FastifyRequest, { statusCode }: FastifyReply): boolean {
  return method === 'GET' && statusCode === 200 && routeOptions.url?.startsWith('/api/v1/') === true;
}

/** @param given by the handler: the version of the shown object, or the page's own tag */
function tagOf(payload: Buffer, given: unknown): string {
  if (typeof given !== 'string') return etagOf(contentHash(payload));
  const version = VERSION.exec(given)?.[1];
  return version === undefined ? given : etagOf(`${version}-${contentHash(payload)}`);
}

/** Is the tag one of a list? RFC 9110 compares weakly here: a cache may have added `W/`. */
export function isKnown(given: string | undefined, tag: string): boolean {
  if (given === undefined) return false;
  return given.split(',').some((one) => ['*', tag].includes(one.trim().replace(/^W\//, '')));
}
