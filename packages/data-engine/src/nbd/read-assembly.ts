import { ProtocolError } from './errors.js';
import { type Payload, payloadLength } from './export.js';

type Part = { offset: number; lengthBytes: number; payload: Payload };

/** No server has reason to cut a reply finer than into sectors; one that does so makes us hold many small things. */
const PART_BYTES_MIN = 512;

/** Puts the chunks of one structured READ reply, which may come in any order, back together. */
export class ReadAssembly {
  private readonly parts: Part[] = [];
  private arrivedBytes = 0;

  constructor(
    private readonly offset: number,
    readonly lengthBytes: number,
  ) {}

  data(offset: number, payload: Payload): void {
    this.add({ offset, lengthBytes: payloadLength(payload), payload });
  }

  hole(offset: number, lengthBytes: number): void {
    // Checked before the zeros are made: the length comes from the network.
    if (lengthBytes > this.lengthBytes) throw new ProtocolError('a hole longer than what was asked for');
    this.add({ offset, lengthBytes, payload: [Buffer.alloc(lengthBytes)] });
  }

  whole(payload: Payload): void {
    this.parts.push({ offset: this.offset, lengthBytes: this.lengthBytes, payload });
  }

  /** @throws ProtocolError when the parts don't cover what was asked for exactly once. */
  finish(): Payload {
    const [only] = this.parts;
    if (this.parts.length === 1 && only?.lengthBytes === this.lengthBytes) return only.payload;
    this.parts.sort((a, b) => a.offset - b.offset);
    let at = this.offset;
    for (const part of this.parts) {
      if (part.offset !== at) throw new ProtocolError('a read reply with gaps or overlaps');
      at += part.lengthBytes;
    }
    if (at !== this.offset + this.lengthBytes) throw new ProtocolError('a read reply of the wrong length');
    return this.parts.flatMap(({ payload }) => payload);
  }

  private add(part: Part): void {
    if (part.offset < this.offset || part.offset + part.lengthBytes > this.offset + this.lengthBytes) {
      throw new ProtocolError('a read reply outside of what was asked for');
    }
    this.arrivedBytes += part.lengthBytes;
    // Else a server that never says that it is done could make us hold any amount.
    if (this.arrivedBytes > this.lengthBytes) throw new ProtocolError('a read reply with overlaps');
    if (this.parts.length * PART_BYTES_MIN > this.lengthBytes)
      throw new ProtocolError('a read reply in crumbs');
    this.parts.push(part);
  }
}
