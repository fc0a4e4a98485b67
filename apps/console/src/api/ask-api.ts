/** How Node's fetch names a connection that ended before an answer began. */
const HUNG_UP: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/**
 * Asks the API, once more where the connection ended without an answer: the API ends a connection that was idle for long, and the next
 * request may be on its way already (RFC 9112, section 9.3.1). A request that changes something is repeated only under a key by which
 * the API knows it again.
 *
 * @throws TypeError where the API can't be reached
 */
export async function askApi(url: string, init: RequestInit & { headers: Headers }): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (!isRepeatable(init) || !isHungUp(error)) throw error;
    return fetch(url, init);
  }
}

function isRepeatable({ method, headers }: RequestInit & { headers: Headers }): boolean {
  return method === 'GET' || method === 'HEAD' || headers.has('idempotency-key');
}

/** By its cause's code, as fetch throws the same class for whatever fails. */
function isHungUp(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } };
  return HUNG_UP.has(cause?.code);
}
