/** Life of a host process: it ends when its agent does, and ignores the signals that are meant for the agent. */
import { Certificates } from '@holdfast/data-engine/nbd/certificates.js';
import { requireTls } from '@holdfast/data-engine/nbd/client-tls.js';
import { tlsOfEnvironment } from '../tls-environment.js';

/** Time limit of the flush when the agent is gone. */
const FLUSH_MAX_MS = 2_000;

export function runAsHost(flush: () => Promise<void>): void {
  // A terminal sends these signals to the whole process group; the agent then stops its hosts in the right order.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  process.on('disconnect', () => {
    setTimeout(() => process.exit(1), FLUSH_MAX_MS).unref();
    flush().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}

/** Makes this process use TLS towards copies on other nodes, where the agent requires TLS of its own clients. */
export function requireTlsOfEnvironment(): void {
  const tls = tlsOfEnvironment(process.env);
  if (tls.mode === 'require') requireTls(new Certificates(tls.files));
}
