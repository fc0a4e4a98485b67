/** First contact with a control plane: finds the certificate authority that the join token names. */
import https from 'node:https';
import { authoritiesSchema } from '@holdfast/core/model/agent-join.js';
import { fingerprintOf } from '@holdfast/identity/certificate.js';

const TIMEOUT_MS = 5_000;
const ANSWER_BYTES_MAX = 128 * 1024;

/**
 * Fetches the authorities from whatever answers, and believes only the one with the fingerprint.
 *
 * @throws Error when none of them has it
 */
export async function authorityOf(apiUrl: string, fingerprint: string): Promise<string> {
  const { authorities } = authoritiesSchema.parse(
    JSON.parse(await fetchUnverified(`${apiUrl}/agent/authorities`)),
  );
  const found = authorities.find((authority) => hasFingerprint(authority, fingerprint));
  if (found !== undefined) return found;
  throw new Error(
    `what answers at ${apiUrl} is not the control plane that made the join token: no authority has the fingerprint ${fingerprint}`,
  );
}

function hasFingerprint(certificatePem: string, fingerprint: string): boolean {
  try {
    return fingerprintOf(certificatePem) === fingerprint;
  } catch {
    return false;
  }
}

function fetchUnverified(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    // Nothing secret is sent, and what comes back is held against the fingerprint.
    const request = https.get(url, { rejectUnauthorized: false, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        length += chunk.byteLength;
        if (length > ANSWER_BYTES_MAX) request.destroy(new Error('the answer is too long'));
        chunks.push(chunk);
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString('utf8'));
        else reject(new Error(`${url} answered ${response.statusCode}`));
      });
      response.on('error', reject);
    });
    request.setTimeout(TIMEOUT_MS, () => request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    request.on('error', reject);
  });
}
