import { SECTOR_BYTES } from '@holdfast/core/model/bytes.js';
import { ProtocolError } from './errors.js';
import { moveInto, type Payload, payloadLength, pooledPayload } from './export.js';

type Part = { offset: number; lengthBytes: number; payload: Payload };

/**
 * Minimum average size of a reply's parts: a server has no reason to send parts below a sector, and many small ones
 * would cost memory.
 */
const PART_BYTES_MIN = SECTOR_BYTES;

/** Reassembly of one structured READ reply, whose chunks may come in any order. */
export class ReadAssembly {
  private readonly parts: Part[] = [];
  private arrivedBytes = 0;

  /** @param memory of the read's whole length, which its data is put into; without it the data is handed over as it arrived */
  constructor(
    private readonly offset: number,
    readonly lengthBytes: number,
    readonly memory?: Buffer,
  ) {}

  /** Notes a part whose bytes are put into the memory. @returns where they belong in it @throws ProtocolError */
  place(offset: number, lengthBytes: number): number {
    this.add({ offset, lengthBytes, payload: [] });
    return offset - this.offset;
  }

  data(offset: number, payload: Payload): void {
    this.add({ offset, lengthBytes: payloadLength(payload), payload });
  }

  hole(offset: number, lengthBytes: number): void {
    // Checked before zeros are allocated: the length comes from the network.
    if (lengthBytes > this.lengthBytes) throw new ProtocolError('a hole longer than what was asked for');
    if (this.memory === undefined) {
      this.add({ offset, lengthBytes, payload: [Buffer.alloc(lengthBytes)] });
      return;
    }
    const at = this.place(offset, lengthBytes);
    this.memory.fill(0, at, at + lengthBytes);
  }

  whole(payload: Payload): void {
    this.parts.push({ offset: this.offset, lengthBytes: this.lengthBytes, payload });
    if (this.memory !== undefined) moveInto(this.memory, payload);
  }

  /** @throws ProtocolError when the parts don't cover the requested range exactly once. */
  requireWhole(): void {
    if (this.parts.length === 1 && this.parts[0]?.lengthBytes === this.lengthBytes) return;
    this.parts.sort((a, b) => a.offset - b.offset);
    let at = this.offset;
    for (const part of this.parts) {
      if (part.offset !== at) throw new ProtocolError('a read reply with gaps or overlaps');
      at += part.lengthBytes;
    }
    if (at !== this.offset + this.lengthBytes) throw new ProtocolError('a read reply of the wrong length');
  }

  /** What was read. @throws ProtocolError as above */
  finish(): Payload {
    this.requireWhole();
    const [only] = this.parts;
    if (only !== undefined && this.parts.length === 1) return only.payload;
    const release = () => {
      for (const { payload } of this.parts) payload.release?.();
    };
    return pooledPayload(
      this.parts.flatMap(({ payload }) => payload),
      release,
    );
  }

  private add(part: Part): void {
    if (part.offset < this.offset || part.offset + part.lengthBytes > this.offset + this.lengthBytes) {
      throw new ProtocolError('a read reply outside of what was asked for');
    }
    this.arrivedBytes += part.lengthBytes;
    // Without this bound, a server that never ends its reply could make this process hold any amount.
    if (this.arrivedBytes > this.lengthBytes) throw new ProtocolError('a read reply with overlaps');
    if (this.parts.length * PART_BYTES_MIN > this.lengthBytes)
      throw new ProtocolError('a read reply in crumbs');
    this.parts.push(part);
  }
}
