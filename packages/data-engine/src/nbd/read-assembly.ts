import { ProtocolError } from './errors.js';
import { type Payload, payloadLength } from './export.js';

type Part = { offset: number; lengthBytes: number; payload: Payload };

/** Puts the chunks of one structured READ reply, which may come in any order, back together. */
export class ReadAssembly {
  private readonly parts: Part[] = [];

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
    this.parts.push(part);
  }
}
