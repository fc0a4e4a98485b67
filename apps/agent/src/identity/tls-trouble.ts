/** Explanation of a failed TLS handshake for the operator. */
import { certificateTrouble } from '@holdfast/core/model/certificate-trouble.js';

/** Was the other side's certificate signed by an authority that is not trusted? */
export function isWrongAuthority(error: unknown): boolean {
  return certificateTrouble(error) === 'authority';
}

/** @returns `undefined` for an error that is not about certificates */
export function tlsTrouble(error: unknown, apiUrl: string, now = new Date()): Error | undefined {
  const because = { cause: error };
  switch (certificateTrouble(error)) {
    case 'authority':
      return new Error(
        `what answers at ${apiUrl} shows a certificate of another authority than this agent trusts; if that control plane was made anew, start the agent with a join token of it (HOLDFAST_AGENT_TOKEN)`,
        because,
      );
    case 'time':
      return new Error(
        `the certificate of the control plane at ${apiUrl} is not good at ${now.toISOString()}, the time of this machine: is its clock right?`,
        because,
      );
    case 'name':
      return new Error(
        `what answers at ${apiUrl} is no control plane: its certificate is for another name`,
        because,
      );
    case undefined:
      return undefined;
  }
}
