import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentAnswer } from '@holdfast/control/ports/unresponsive-agents.js';
import { hostOf } from '@holdfast/identity/names.js';

/** A machine that is up answers within a round trip, and an agent that is well a few milliseconds later. */
const ANSWER_MS_MAX = 500;
/** Longer than a port is closed while a process hands it over to its successor. */
const BETWEEN_MS = 250;
/** The connection was there, and its other end has closed it. */
const CLOSED_BY_AGENT = new Set(['ECONNRESET', 'EPIPE']);

/** `UnresponsiveAgents.ask` over HTTP: an agent's port serves it beside TLS, and `/livez` requires no certificate. */
export async function askAgent(controlUrl: string | undefined): Promise<AgentAnswer> {
  if (controlUrl === undefined) return 'silent';
  const first = await askOnce(controlUrl);
  if (first !== 'gone') return first;
  await sleep(BETWEEN_MS);
  return askOnce(controlUrl);
}

function askOnce(controlUrl: string): Promise<AgentAnswer> {
  const url = new URL(controlUrl);
  return new Promise((resolve) => {
    const request = http.get({
      host: hostOf(url),
      port: Number(url.port || 80),
      path: '/livez',
      agent: false,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    request.once('response', (response) => {
      response.resume();
      resolve('answers');
    });
    request.on('error', (error: NodeJS.ErrnoException) => resolve(meaningOf(error.code ?? '')));
  });
}

function meaningOf(code: string): AgentAnswer {
  if (code === 'ECONNREFUSED') return 'gone';
  // `HPE_…`: what came was no HTTP.
  return CLOSED_BY_AGENT.has(code) || code.startsWith('HPE_') ? 'answers' : 'silent';
}
