/** What a failed TLS handshake means, in words for the operator. */
import { systemCode } from '@holdfast/data-engine/base/system-error.js';

const WRONG_AUTHORITY = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
  'CERT_SIGNATURE_FAILURE',
]);
const WRONG_TIME = new Set(['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED']);

/** Was the other side's certificate signed by an authority that is not trusted? */
export function isWrongAuthority(error: unknown): boolean {
  return WRONG_AUTHORITY.has(codeIn(error) ?? '');
}

/** @returns `undefined` for an error that is not about certificates */
export function tlsTrouble(error: unknown, apiUrl: string, now = new Date()): Error | undefined {
  const code = codeIn(error) ?? '';
  const because = { cause: error };
  if (WRONG_AUTHORITY.has(code))
    return new Error(
      `what answers at ${apiUrl} shows a certificate of another authority than this agent trusts; if that control plane was made anew, start the agent with a join token of it (HOLDFAST_AGENT_TOKEN)`,
      because,
    );
  if (WRONG_TIME.has(code)) {
    const time = now.toISOString();
    return new Error(
      `the certificate of the control plane at ${apiUrl} is not good at ${time}, the time of this machine: is its clock right?`,
      because,
    );
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return new Error(
      `what answers at ${apiUrl} is no control plane: its certificate is for another name`,
      because,
    );
  return undefined;
}

function codeIn(error: unknown): string | undefined {
  const own = systemCode(error);
  if (own !== undefined && (WRONG_AUTHORITY.has(own) || WRONG_TIME.has(own) || own.startsWith('ERR_TLS')))
    return own;
  return error instanceof Error && error.cause !== undefined ? codeIn(error.cause) : undefined;
}
