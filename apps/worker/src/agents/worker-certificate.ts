/** The certificate that this worker calls agents with. The worker signs it: the authority's key is in its database. */
import { ensureAuthorities } from '@holdfast/database/identity/authorities.js';
import type { Scope } from '@holdfast/database/sql/scope.js';
import { makeWorkerCertificate } from '@holdfast/identity/authority.js';
import { signingAuthority, trustedAuthorities } from '@holdfast/identity/authority-roles.js';

const LIFE_MS = 24 * 3_600_000;
/** How long one is used: authorities are read again with each. */
const USED_MS = 60_000;

/** Options of a TLS connection to an agent. */
export type TlsIdentity = { readonly cert: string; readonly key: string; readonly ca: readonly string[] };

/** Answers with the certificate of the moment, which is the same object while nothing has changed. */
export function workerCertificate(system: Scope): () => Promise<TlsIdentity> {
  let current: { identity: TlsIdentity; madeAtMs: number; readAtMs: number; of: string } | undefined;
  let reading: Promise<TlsIdentity> | undefined;
  const read = async (): Promise<TlsIdentity> => {
    const now = new Date();
    const authorities = await ensureAuthorities(system, now);
    const signing = signingAuthority(authorities, now);
    if (signing === undefined) throw new Error('there is no certificate authority that signs');
    const ca = trustedAuthorities(authorities, now).map(({ certificatePem }) => certificatePem);
    const of = [signing.certificatePem, ...ca].join();
    const readAtMs = now.getTime();
    if (current !== undefined && current.of === of && readAtMs - current.madeAtMs < LIFE_MS / 2) {
      current = { ...current, readAtMs };
      return current.identity;
    }
    const made = await makeWorkerCertificate(signing, { now, notAfter: new Date(readAtMs + LIFE_MS) });
    const identity = { cert: made.certificatePem, key: made.keyPem, ca };
    current = { identity, madeAtMs: readAtMs, readAtMs, of };
    return identity;
  };
  return async () => {
    if (current !== undefined && Date.now() - current.readAtMs < USED_MS) return current.identity;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}
