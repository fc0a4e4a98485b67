/** Control socket of a test's own cluster, by which the CLI has an agent started: HTTP on a Unix socket, as the local stack has it. */
import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';

const START_AGENT = /^\/agents\/([^/]+)\/start$/;

export function controlSocketIn(home: string): string {
  return path.join(home, 'stack.sock');
}

/** @param startAgent answers with the agent's entry of local.json once its node is Ready */
export async function openTestControlSocket(
  home: string,
  startAgent: (name: string) => Promise<unknown>,
): Promise<http.Server> {
  const server = http.createServer((request, response) => {
    const [, name] = START_AGENT.exec(request.url ?? '') ?? [];
    const started = name === undefined ? Promise.reject(new Error('not known')) : startAgent(name);
    started.then(
      (agent) => response.end(JSON.stringify(agent)),
      (error: unknown) => response.writeHead(409).end(JSON.stringify({ message: String(error) })),
    );
  });
  server.listen(controlSocketIn(home));
  await once(server, 'listening');
  return server;
}
