/**
 * Checksums of whole copies. They take as long as reading the copy does, so the control plane starts one and asks for
 * its result later. The last result of a copy is kept, so that repeated calls get the same answer.
 */
import type { ChecksumReply } from '@holdfast/core/model/agent-protocol.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { within } from './within.js';

/**
 * Wait for the result in the call that starts it: a small copy is done by then, and its user sees the result at once.
 */
const ANSWER_MS_MAX = 800;
/** Most results that are kept, a few hundred bytes each. The oldest goes first, and would be computed again. */
const KEPT_MAX = 10_000;
/** Longest delay of a rate-limited one for the next: a disk that hangs must not block them for ever. */
const TURN_MS_MAX = 6 * 3_600_000;

type Verification = { id: string; result: Promise<ChecksumReply> };

export class Verifications {
  private readonly byReplica = new Map<string, Verification>();
  /** Ends when the last one with a limited rate has ended: together they keep to the limit. */
  private line: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly checksum: (replicaId: string, bytesPerSecondMax?: number) => Promise<ChecksumReply>,
  ) {}

  /**
   * Starts the verification, unless it was started. `undefined` while it runs. A failure is returned once, and then forgotten, so
   * that a retry is possible.
   */
  async ask(replicaId: string, id: string, bytesPerSecondMax?: number): Promise<ChecksumReply | undefined> {
    const known = this.byReplica.get(replicaId);
    const { result } = known?.id === id ? known : this.begin(replicaId, id, bytesPerSecondMax);
    try {
      return await within<ChecksumReply | undefined>(ANSWER_MS_MAX, result, () => undefined);
    } catch (error) {
      if (this.byReplica.get(replicaId)?.result === result) this.byReplica.delete(replicaId);
      throw error;
    }
  }

  private begin(replicaId: string, id: string, limit: number | undefined): Verification {
    const oldest = this.byReplica.keys().next();
    if (this.byReplica.size >= KEPT_MAX && oldest.done === false) this.byReplica.delete(oldest.value);
    const result = limit === undefined ? this.checksum(replicaId) : this.inLine(replicaId, id, limit);
    const begun = { id, result };
    // The failure is reported by the next call about it, if there is one; without this handler it would end the
    // process.
    begun.result.catch(() => undefined);
    this.byReplica.set(replicaId, begun);
    return begun;
  }

  private inLine(replicaId: string, id: string, limit: number): Promise<ChecksumReply> {
    const turn = this.line.then(() => {
      // Another verification of the same copy was requested meanwhile.
      if (this.byReplica.get(replicaId)?.id !== id)
        throw new StorageFault('replica.in_use', { publicMessage: 'another comparison reads the copy' });
      return this.checksum(replicaId, limit);
    });
    const ended = turn.catch(() => undefined);
    this.line = within<unknown>(TURN_MS_MAX, ended, () => undefined);
    return turn;
  }
}
