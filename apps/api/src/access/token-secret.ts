import { systemRandom } from '@holdfast/database/clock-and-random.js';
import type { TokenKind } from '@holdfast/database/queries/tokens.js';

/** Users and secret scanners recognize the kind of secret by its prefix. */
const PREFIX: Record<TokenKind, string> = { session: 'hfs_', api: 'hft_' };

export function newInvitationSecret(): string {
  return `hfi_${systemRandom.secret()}`;
}

export function newTokenSecret(kind: TokenKind): string {
  return `${PREFIX[kind]}${systemRandom.secret()}`;
}
