/** Certificate problems of a failed TLS connection, and their messages for operators. */

/** The problem: the signer of the certificate, its validity, or its name. */
export type CertificateTrouble = 'authority' | 'time' | 'name';

const TROUBLES: Readonly<Record<string, CertificateTrouble>> = {
  SELF_SIGNED_CERT_IN_CHAIN: 'authority',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'authority',
  UNABLE_TO_GET_ISSUER_CERT: 'authority',
  CERT_SIGNATURE_FAILURE: 'authority',
  CERT_NOT_YET_VALID: 'time',
  CERT_HAS_EXPIRED: 'time',
  ERR_TLS_CERT_ALTNAME_INVALID: 'name',
};

/** Why a file can't be read. */
const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  EACCES: "can't be read by this user",
  EISDIR: 'is a folder',
};

/** A server that is reached by TLS, as it is configured. */
export type TlsService = {
  /** Such as `Postgres`. */
  readonly name: string;
  /** Host and port. */
  readonly address: string;
  /** PEM file of the authorities that are trusted; `undefined`: those that Node trusts. */
  readonly authorityFile: string | undefined;
  /** How that file is named, such as `REDIS_CA_FILE`. */
  readonly setting: string;
};

/** @returns `undefined` for an error that is not about certificates */
export function certificateTrouble(error: unknown): CertificateTrouble | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const found = TROUBLES[codeOf(error)];
  return found ?? ('cause' in error ? certificateTrouble(error.cause) : undefined);
}

/**
 * Problem that an operator has to fix before the service can be reached.
 *
 * @returns `undefined` if waiting may help, or the problem is not TLS
 */
export function describeTlsTrouble(error: unknown, service: TlsService, now: Date): string | undefined {
  const { name, address, authorityFile, setting } = service;
  const where = `${name} at ${address}`;
  switch (certificateTrouble(error)) {
    case 'authority':
      return authorityFile === undefined
        ? `${where} shows a certificate of an authority that this machine does not trust: name the authority's PEM file by ${setting}`
        : `${where} shows a certificate of another authority than ${authorityFile} has: put the certificate of the authority that signed it there (${setting})`;
    case 'time':
      return `the certificate of ${where} is not good at ${now.toISOString()}, the time of this machine: is its clock right? Otherwise give the server a new certificate`;
    case 'name':
      return `${where} shows a certificate for another name: reach it by the name in its certificate, or give it one for this name`;
    case undefined:
      return fileTrouble(error, service) ?? withoutTls(error, where);
  }
}

function fileTrouble(error: unknown, { authorityFile, setting, name }: TlsService): string | undefined {
  if (authorityFile === undefined || typeof error !== 'object' || error === null) return undefined;
  const code = codeOf(error);
  const why = UNREADABLE[code];
  const isOfFile = 'path' in error ? error.path === authorityFile : code === 'EISDIR';
  if (why !== undefined && isOfFile) return `${authorityFile}, the authority of ${name} (${setting}), ${why}`;
  return code.startsWith('ERR_OSSL')
    ? `${authorityFile}, the authority of ${name} (${setting}), is no certificate in PEM`
    : undefined;
}

function withoutTls(error: unknown, where: string): string | undefined {
  const text = typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : '';
  return /does not support SSL|wrong version number|packet length too long/i.test(text)
    ? `${where} does not use TLS, which its address requires`
    : undefined;
}

function codeOf(error: object): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
