/**
 * Documentation page of the API at `/docs`: Swagger UI over this process' own document, with its files served from here. It runs under a
 * policy without inline scripts and without other origins, and sends requests with its reader's session.
 */
import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';

/** Files of the package that the page needs, by their names. */
const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** Scripts and styles of this origin only. Icons of the page's controls are in its style sheet. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Holdfast API</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="icon" href="/docs/favicon-32x32.png">
  </head>
  <body>
    <main id="api"></main>
    <noscript>This page needs JavaScript. The document itself is at /api/v1/openapi.json.</noscript>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  tryItOutEnabled: false,
  persistAuthorization: false,
  validatorUrl: null,
});
`;

export function serveDocumentation(fastify: FastifyInstance): void {
  const folder = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const answer = (type: string) => ({ 'content-type': type, 'content-security-policy': POLICY });
  fastify.get('/docs', (_request, reply) => reply.headers(answer('text/html; charset=utf-8')).send(PAGE));
  fastify.get('/docs/start.js', (_request, reply) =>
    reply.headers(answer('text/javascript; charset=utf-8')).send(START),
  );
  for (const [name, type] of Object.entries(ASSETS)) {
    fastify.get(`/docs/${name}`, async (_request, reply) => {
      const file = await fs.readFile(path.join(folder, name));
      return reply.headers({ ...answer(type), 'cache-control': 'public, max-age=3600' }).send(file);
    });
  }
}
