import { EXT_FILE_BYTES_END } from '../../policy/file-size-limit.js';
import type { PlacementRequest } from '../framework/placement-request.js';

/** Selectors are few in any real fleet. Beyond, all are forgotten, with the plans that their numbers name. */
const SELECTORS_MAX = 4096;

/**
 * A number for each kind of request: those with equal selectors, topology, engine and reach share one, and with it a plan.
 * A filter that says `kind` may read nothing else of a request.
 *
 * It is asked for by every decision, so the usual selectors, of one tag or none, are found without making a string.
 */
export class RequestKeys {
  private readonly single = new Map<string, number>();
  private readonly several = new Map<string, number>();
  private readonly topologies = new Map<string, number>();
  /** 0 is the empty selector. */
  private last = 0;

  /** @param forget is told when numbers are about to be given out anew: nothing may be known by an old one */
  constructor(private readonly forget: () => void) {}

  of(request: PlacementRequest): number {
    // Before any is looked up, so that all numbers of a key are from one numbering.
    if (this.last > SELECTORS_MAX - 3) this.reset();
    const engine = request.dataEngine === 'v1' ? 0 : 1;
    // The file-system limit is the one rule about kinds of disks that asks for the size.
    const reach = request.sizeBytes >= EXT_FILE_BYTES_END ? 2 : 0;
    const disks = this.selector(request.diskSelector);
    const nodes = this.selector(request.nodeSelector);
    // Below 2^53: three numbers of twelve bits and two bits.
    return (
      ((this.topology(request.topology) * SELECTORS_MAX + nodes) * SELECTORS_MAX + disks) * 4 + engine + reach
    );
  }

  private selector(tags: readonly string[]): number {
    if (tags.length === 0) return 0;
    const known = tags.length === 1 ? this.single : this.several;
    const [first = ''] = tags;
    const key = tags.length === 1 ? first : JSON.stringify(tags);
    return this.numberOf(key, known);
  }

  private topology(terms: PlacementRequest['topology']): number {
    return terms.length === 0 ? 0 : this.numberOf(JSON.stringify(terms), this.topologies);
  }

  private numberOf(key: string, known: Map<string, number>): number {
    const number = known.get(key);
    if (number !== undefined) return number;
    this.last += 1;
    known.set(key, this.last);
    return this.last;
  }

  private reset(): void {
    this.single.clear();
    this.several.clear();
    this.topologies.clear();
    this.last = 0;
    this.forget();
  }
}
