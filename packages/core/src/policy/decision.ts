/**
 * Answer to the question whether a user may do something now. The API refuses by it, and the console disables a button
 * with its reason, so that both say the same.
 */
import type { FaultCode, FaultDetails } from '../model/faults.js';

export type Decision<Code extends FaultCode = FaultCode> =
  | { readonly kind: 'allow' }
  /** It is so already, or is asked for: the request succeeds and does nothing. */
  | { readonly kind: 'unchanged'; readonly why: string }
  | Refusal<Code>;

export type Refusal<Code extends FaultCode = FaultCode> = {
  readonly kind: 'refuse';
  readonly code: Code;
  /** A sentence for users. */
  readonly why: string;
  readonly cures: readonly string[];
  /** For logs only. */
  readonly context?: FaultDetails['context'];
};

export const ALLOWED = Object.freeze({ kind: 'allow' });

export function unchanged(why: string): { readonly kind: 'unchanged'; readonly why: string } {
  return { kind: 'unchanged', why };
}

export function refuse<Code extends FaultCode>(
  code: Code,
  why: string,
  cures: readonly string[] = [],
  context?: FaultDetails['context'],
): Refusal<Code> {
  return { kind: 'refuse', code, why, cures, ...(context === undefined ? {} : { context }) };
}
