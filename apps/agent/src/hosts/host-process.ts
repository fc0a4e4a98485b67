/** What every host process does: it lives exactly as long as its agent, and leaves signals to it. */
import { Certificates } from '@holdfast/data-engine/nbd/certificates.js';
import { requireTls } from '@holdfast/data-engine/nbd/client-tls.js';
import { tlsOfEnvironment } from '../tls-environment.js';

/** How long a host may take to flush when its agent is gone. */
const FLUSH_MAX_MS = 2_000;

export function runAsHost(flush: () => Promise<void>): void {
  // A terminal sends these to the whole process group; the agent then stops its hosts in the right order.
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

/** Where this node's port wants TLS, so do the others': what engines and rebuilds send them goes through it too. */
export function requireTlsOfEnvironment(): void {
  const tls = tlsOfEnvironment(process.env);
  if (tls.mode === 'require') requireTls(new Certificates(tls.files));
}
