/**
 * Checksums of whole copies that are asked for and looked after, not waited for: they take as long as reading does.
 * Results are kept until the next verification of the same copy, so that every question about one is answered alike.
 */
import type { ChecksumReply } from '@holdfast/core/model/agent-protocol.js';
import { within } from './within.js';

/** A small copy is done by then, and its user sees the result at once. */
const ANSWER_MS_MAX = 800;
/** Results that are kept: a few hundred bytes each. The oldest goes first, and would be made again if it was asked for. */
const KEPT_MAX = 1_000;

type Verification = { id: string; result: Promise<ChecksumReply> };

export class Verifications {
  private readonly byReplica = new Map<string, Verification>();

  constructor(private readonly checksum: (replicaId: string) => Promise<ChecksumReply>) {}

  /** Starts it, unless it was started. `undefined` while it runs. One that failed is told once, and may be tried again. */
  async ask(replicaId: string, id: string): Promise<ChecksumReply | undefined> {
    const known = this.byReplica.get(replicaId);
    const { result } = known?.id === id ? known : this.begin(replicaId, id);
    try {
      return await within<ChecksumReply | undefined>(ANSWER_MS_MAX, result, () => undefined);
    } catch (error) {
      if (this.byReplica.get(replicaId)?.result === result) this.byReplica.delete(replicaId);
      throw error;
    }
  }

  private begin(replicaId: string, id: string): Verification {
    const oldest = this.byReplica.keys().next();
    if (this.byReplica.size >= KEPT_MAX && oldest.done === false) this.byReplica.delete(oldest.value);
    const begun = { id, result: this.checksum(replicaId) };
    // Looked at when it is next asked about, if it ever is.
    begun.result.catch(() => undefined);
    this.byReplica.set(replicaId, begun);
    return begun;
  }
}
