import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

/**
 * Handlers of the control socket, over which the CLI reaches the running stack: HTTP on a Unix socket in the stack's
 * home, which only its owner can enter. `POST /agents/<name>/start` answers when that node is Ready, with its entry of
 * local.json.
 */
export type ControlHandlers = {
  startAgent(name: string): Promise<unknown>;
};

const START_AGENT = /^\/agents\/([^/]+)\/start$/;

export async function openControlSocket(home: string, handlers: ControlHandlers): Promise<http.Server> {
  const file = controlSocketPath(home);
  // The caller has claimed the home, so a socket that lies here is a dead stack's.
  fs.rmSync(file, { force: true });
  const server = http.createServer((request, response) => {
    answer(request, handlers).then(
      (body) => respond(response, 200, body),
      (error: unknown) =>
        respond(response, 409, { message: error instanceof Error ? error.message : String(error) }),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(file, resolve);
  });
  fs.chmodSync(file, 0o600);
  return server;
}

/** Longest path of a Unix socket that the kernel takes. For a longer one the socket is in the temporary folder. */
const SOCKET_PATH_BYTES_MAX = 107;

export function controlSocketPath(home: string): string {
  const inHome = path.join(home, 'stack.sock');
  if (Buffer.byteLength(inHome) <= SOCKET_PATH_BYTES_MAX) return inHome;
  const digest = crypto.createHash('sha256').update(home).digest('hex').slice(0, 24);
  return path.join(os.tmpdir(), `holdfast-${digest}.sock`);
}

async function answer(request: http.IncomingMessage, handlers: ControlHandlers): Promise<unknown> {
  const match = START_AGENT.exec(request.url ?? '');
  if (request.method !== 'POST' || match?.[1] === undefined)
    throw new Error('the local stack knows POST /agents/<name>/start only');
  return handlers.startAgent(decodeURIComponent(match[1]));
}

function respond(response: http.ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
