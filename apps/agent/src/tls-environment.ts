/**
 * TLS settings of NBD connections, from the environment. The agent reads and checks them; its host processes inherit
 * the environment and read them again.
 */
import type { CertificateFiles } from '@holdfast/data-engine/nbd/certificates.js';

/** TLS mode, with the three files where the mode uses them. */
export type TlsConfig = { mode: 'off' } | { mode: 'allow' | 'require'; files: CertificateFiles };

type TlsEnvironment = {
  HOLDFAST_NBD_TLS?: string | undefined;
  HOLDFAST_NBD_TLS_CERT?: string | undefined;
  HOLDFAST_NBD_TLS_KEY?: string | undefined;
  HOLDFAST_NBD_TLS_CA?: string | undefined;
};

/** Reads the settings without checking them: the agent has done so for its hosts. */
export function tlsOfEnvironment(environment: TlsEnvironment): TlsConfig {
  const mode = environment.HOLDFAST_NBD_TLS;
  if (mode !== 'allow' && mode !== 'require') return { mode: 'off' };
  return {
    mode,
    files: {
      certFile: environment.HOLDFAST_NBD_TLS_CERT ?? '',
      keyFile: environment.HOLDFAST_NBD_TLS_KEY ?? '',
      caFile: environment.HOLDFAST_NBD_TLS_CA ?? '',
    },
  };
}
