import { systemRandom } from '@holdfast/database/clock-and-random.js';
import type { TokenKind } from '@holdfast/database/queries/tokens.js';

/** The prefix lets users and secret scanners tell what they have found. */
const PREFIX: Record<TokenKind, string> = { session: 'hfs_', api: 'hft_' };

export function newInvitationSecret(): string {
  return `hfi_${systemRandom.secret()}`;
}

export function newTokenSecret(kind: TokenKind): string {
  return `${PREFIX[kind]}${systemRandom.secret()}`;
}
