/**
 * One request to a webhook's receiver, signed as Standard Webhooks say (https://www.standardwebhooks.com).
 *
 * The name is resolved here and the connection goes to the address that was checked, so that a name which resolves to
 * something else a moment later leads nowhere. Redirects are not followed, and of the answer only the status is read.
 */
import { createHmac } from 'node:crypto';
import dns from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { Attempt } from '@holdfast/access/webhook-delivery.js';
import { hostOf } from '@holdfast/identity/names.js';
import { isAllowedReceiver, NO_RECEIVER, refusalOfReceiver } from '@holdfast/identity/receiver-address.js';

/** From the first byte to the answer's status. Less than a claim lasts. */
const TIMEOUT_MS = 10_000;

export type SignedMessage = {
  readonly id: string;
  readonly body: string;
  /** The newest first. */
  readonly secrets: readonly string[];
  readonly at: Date;
};

export type SendOptions = {
  /** Networks beside the public internet that receivers may be in. */
  readonly networks: readonly string[];
  readonly timeoutMs?: number;
  /** For tests: names that no server knows. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
};

export async function sendSigned(
  url: string,
  message: SignedMessage,
  { networks, timeoutMs = TIMEOUT_MS, resolve = resolveAll }: SendOptions,
): Promise<Attempt> {
  const limit = AbortSignal.timeout(timeoutMs);
  const late = new Promise<Attempt>((settle) => {
    limit.addEventListener('abort', () =>
      settle(refused(`its receiver did not answer within ${timeoutMs / 1_000} s`)),
    );
  });
  const target = new URL(url);
  const sent = async (): Promise<Attempt> => {
    const found = await resolve(hostOf(target));
    const address = found.find((one) => isAllowedReceiver(one, networks));
    if (address === undefined) return refused(NO_RECEIVER);
    const refusal = refusalOfReceiver(target.protocol, address, networks);
    if (refusal !== undefined) return refused(refusal);
    return post(target, address, message, limit);
  };
  return Promise.race([sent().catch((error: unknown) => refused(wordsOf(error))), late]);
}

async function resolveAll(name: string): Promise<readonly string[]> {
  if (net.isIP(name) !== 0) return [name];
  return (await dns.lookup(name, { all: true })).map(({ address }) => address);
}

function post(url: URL, address: string, message: SignedMessage, limit: AbortSignal): Promise<Attempt> {
  const { request } = url.protocol === 'https:' ? https : http;
  const name = hostOf(url);
  return new Promise((settle, reject) => {
    const sending = request(
      {
        host: address,
        port: url.port,
        path: `${url.pathname}${url.search}`,
        method: 'POST',
        // Of the certificate the name is checked that the user gave, not the address.
        ...(net.isIP(name) === 0 ? { servername: name } : {}),
        agent: false,
        signal: limit,
        headers: { host: url.host, ...headersOf(message) },
      },
      (response) => {
        settle({ kind: 'answered', status: response.statusCode ?? 0 });
        response.destroy();
      },
    );
    sending.on('error', reject);
    sending.end(message.body);
  });
}

function headersOf({ id, body, secrets, at }: SignedMessage): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1_000);
  const content = `${id}.${timestamp}.${body}`;
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'Holdfast',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map((secret) => `v1,${sign(secret, content)}`).join(' '),
  };
}

/** The key is what follows `whsec_`, in base64. */
function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return createHmac('sha256', key).update(content).digest('base64');
}

function refused(why: string): Attempt {
  return { kind: 'refused', why };
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'its receiver refuses connections',
  ECONNRESET: 'its receiver closed the connection',
  EHOSTUNREACH: 'its receiver is not reached',
  ENETUNREACH: 'its receiver is not reached',
  ETIMEDOUT: 'its receiver is not reached',
  ENOTFOUND: 'its name is not found',
  EAI_AGAIN: 'its name is not found',
};

/** Our own sentence for users, because an error's text may reveal the network that the worker is in. */
function wordsOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  if (/CERT|TLS|SSL|SIGNED|ISSUER/.test(code)) return 'its certificate is not valid for its name';
  return WORDS[code] ?? 'the request to its receiver failed';
}
