/**
 * What the environment says about TLS on NBD connections. Read by the agent, which checks it, and by its host
 * processes, which inherit it.
 */
import type { CertificateFiles } from '@holdfast/data-engine/nbd/certificates.js';

/** The three files go with the modes that use them. */
export type TlsConfig = { mode: 'off' } | { mode: 'allow' | 'require'; files: CertificateFiles };

type TlsEnvironment = {
  HOLDFAST_NBD_TLS?: string | undefined;
  HOLDFAST_NBD_TLS_CERT?: string | undefined;
  HOLDFAST_NBD_TLS_KEY?: string | undefined;
  HOLDFAST_NBD_TLS_CA?: string | undefined;
};

/** Taken as it is: the agent has checked what its hosts inherit. */
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
