// The console's process: Next in production mode, what browsers may run of a page, a liveness answer, and a quiet end on
// SIGTERM.
import crypto from 'node:crypto';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import next from 'next';
import { callerTeller } from './tell-caller.mjs';

const hostname = process.env.HOLDFAST_CONSOLE_HOST ?? '127.0.0.1';
const port = Number(process.env.HOLDFAST_CONSOLE_PORT ?? 7401);
const dir = path.dirname(fileURLToPath(import.meta.url));

const tellCaller = callerTeller(
  process.env.HOLDFAST_TRUSTED_PROXIES,
  process.env.HOLDFAST_CONSOLE_SECRET || undefined,
);

/** `npm run dev`: pages are compiled when they are opened, and replaced in the browser when they are saved. */
const dev = process.env.NODE_ENV === 'development';
const app = next({ dev, dir, hostname, port });
await app.prepare();
const handle = app.getRequestHandler();

/**
 * Lets a page run its own scripts only: Next gives the nonce, which it finds in the request, to those that it writes into the
 * page. A script that comes in by what users or agents wrote has none.
 */
function restrict(request, response) {
  const nonce = crypto.randomBytes(16).toString('base64');
  const policy =
    `default-src 'self'; script-src 'self' 'nonce-${nonce}'${dev ? " 'unsafe-eval'" : ''}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; ` +
    "connect-src 'self'; form-action 'self'; object-src 'none'; base-uri 'self'; frame-ancestors 'none'";
  request.headers['content-security-policy'] = policy;
  request.headers['x-nonce'] = nonce;
  response.setHeader('Content-Security-Policy', policy);
  if (request.headers['x-forwarded-proto'] === 'https') {
    response.setHeader('Strict-Transport-Security', 'max-age=31536000; includeSubDomains');
  }
}

/** Next fails at any other method: it is no request that a page or the API knows. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const server = http.createServer((request, response) => {
  if (!METHODS.includes(request.method)) {
    response
      .writeHead(405, { allow: METHODS.join(', '), 'content-type': 'text/plain' })
      .end('no such method');
    return;
  }
  if (request.url === '/livez' || request.url === '/readyz') {
    response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
    return;
  }
  tellCaller(request);
  restrict(request, response);
  handle(request, response);
});
// Next's own connection, by which pages are replaced.
if (dev) server.on('upgrade', app.getUpgradeHandler());
server.listen(port, hostname, () => console.log(`console listens on http://${hostname}:${port}`));

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    // Neither side ever ends an event stream, so they are cut.
    server.close(() => process.exit(0));
    server.closeAllConnections();
  });
}
