// The console's process: Next in production mode, a liveness answer, and a quiet end on SIGTERM.
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import next from 'next';

const hostname = process.env.HOLDFAST_CONSOLE_HOST ?? '127.0.0.1';
const port = Number(process.env.HOLDFAST_CONSOLE_PORT ?? 7401);
const dir = path.dirname(fileURLToPath(import.meta.url));

const app = next({ dev: false, dir, hostname, port });
await app.prepare();
const handle = app.getRequestHandler();

const server = http.createServer((request, response) => {
  if (request.url === '/livez' || request.url === '/readyz') {
    response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
    return;
  }
  handle(request, response);
});
server.listen(port, hostname, () => console.log(`console listens on http://${hostname}:${port}`));

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    // Neither side ever ends an event stream, so they are cut.
    server.close(() => process.exit(0));
    server.closeAllConnections();
  });
}
