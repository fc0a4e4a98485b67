/** Whether a Redis at `rediss://` can be reached as it is configured, asked once before a worker begins. */
import fs from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import { describeTlsTrouble } from '@holdfast/core/model/certificate-trouble.js';

/** A server that does not answer for so long may be starting: that is waited for elsewhere. */
const ASKED_MS_MAX = 3_000;
const REDIS_PORT = 6379;

/** @returns the problem to fix first; `undefined`: none, or Redis is only unavailable for now */
export async function redisTrouble(url: string, caFile: string | undefined): Promise<string | undefined> {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'rediss:') return undefined;
  const place = { host: hostname, port: Number(port || REDIS_PORT) };
  const address = `${place.host}:${place.port}`;
  const service = { name: 'Redis', address, authorityFile: caFile, setting: 'REDIS_CA_FILE' };
  try {
    await greet({ ...place, ...(caFile === undefined ? {} : { ca: fs.readFileSync(caFile) }) });
    return undefined;
  } catch (error) {
    return describeTlsTrouble(error, service, new Date());
  }
}

/** Does the handshake and hangs up. */
function greet(to: { host: string; port: number; ca?: Buffer }): Promise<void> {
  return new Promise((resolve, reject) => {
    const named = net.isIP(to.host) === 0 ? { servername: to.host } : {};
    const socket = tls.connect({ ...to, ...named, timeout: ASKED_MS_MAX });
    const end = (act: () => void) => {
      socket.destroy();
      act();
    };
    socket.once('secureConnect', () => end(resolve));
    socket.once('timeout', () => end(resolve));
    socket.once('error', (error) => end(() => reject(error)));
  });
}
