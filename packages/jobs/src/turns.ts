/**
 * Turns of the parties that share a queue: each party's next job comes after its last one, and not after the jobs of others. A party
 * that adds thousands at once has them spread over as many rounds, and one that comes later begins in the present round.
 *
 * Start-time fair queueing (Goyal, Vin and Cheng, 1996) with jobs of equal weight. Each process assigns turns of its own; they agree
 * closely enough, since a job carries its turn and the process that begins it moves on to that round.
 */

/** The largest priority of BullMQ. Jobs beyond it share this turn, in the order in which they were added. */
export const TURN_MAX = 2 ** 21 - 1;
/** Remembered jobs and parties: some ten megabytes. A forgotten one gets a turn as if new, which is never a late one. */
const REMEMBERED_MAX = 100_000;

export class Turns {
  /** The round that is being worked on. */
  private round = 0;
  private readonly lastOf = new Map<string, number>();
  private readonly given = new Map<string, number>();

  /** @param key subject of the job: one that waits keeps its turn when it is added again */
  take(key: string, party: string): number {
    const known = this.given.get(key);
    if (known !== undefined) return known;
    const turn = Math.min(TURN_MAX, Math.max(this.round, this.lastOf.get(party) ?? 0) + 1);
    remember(this.lastOf, party, turn);
    remember(this.given, key, turn);
    return turn;
  }

  began(key: string, turn: number): void {
    this.given.delete(key);
    this.round = Math.max(this.round, turn);
  }

  /** Nothing waits: all begin anew. Otherwise turns would reach the largest in some hours of steady work. */
  reset(): void {
    this.round = 0;
    this.lastOf.clear();
    this.given.clear();
  }
}

/** The last one used is the newest; the oldest is removed when there are too many. */
function remember(map: Map<string, number>, key: string, turn: number): void {
  map.delete(key);
  map.set(key, turn);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED_MAX && oldest !== undefined) map.delete(oldest);
}
