/**
 * Server side of the NBD handshake, as a state machine over bytes: no socket, no timer, so that fuzzing it is cheap,
 * and the process that owns the listening port can run it for exports that live in other processes.
 *
 * It stops where the client waits for the answer to GO or EXPORT_NAME. The process that owns the export then sends
 * `handshakeReply` and goes on with the transmission.
 */
import { ByteQueue } from './byte-queue.js';
import {
  ALLOCATION_CONTEXT,
  HandshakeFlag,
  NAME_BYTES_MAX,
  NBD_MAGIC,
  OPTION_BYTES_MAX,
  OPTION_MAGIC,
  OPTIONS_MAX,
  Option,
  OptionReply,
} from './constants.js';
import {
  type ExportInfo,
  exportNameReply,
  infoReplies,
  metaContextReply,
  type Negotiated,
  optionError,
  optionReply,
  readOptionString,
} from './handshake-frames.js';

/** Lookup of exports for the handshake. */
export interface ExportDirectory {
  /**
   * `undefined` for an unknown name, and for a wrong secret: a client must not be able to tell them apart.
   *
   * @param peer what is known of the client from its connection, if anything
   */
  describe(exportName: string, peer: string | undefined): ExportInfo | undefined;
}

/**
 * What is known of the client from its connection. `peerBytes`: that many come ahead of all that the client says, from
 * the tunnel that has judged its certificate.
 */
export type HandshakeClient = { readonly peer?: string | undefined; readonly peerBytes?: number | undefined };

/** TLS policy of a connection. `inside`: the connection came through a tunnel already, so STARTTLS is an error. */
export type TlsOffer = 'off' | 'allow' | 'require' | 'inside';

export type HandshakeStep =
  | { kind: 'more' }
  | { kind: 'close'; reason: string }
  /** The client waits for the answer to STARTTLS; everything negotiated before is void after it. */
  | { kind: 'start-tls'; noZeroes: boolean }
  | { kind: 'chosen'; negotiated: Negotiated; rest: Buffer };

const MORE: HandshakeStep = { kind: 'more' };

export class ServerHandshake {
  private readonly queue = new ByteQueue();
  private clientFlagsSeen = false;
  private noZeroes = false;
  private structuredReplies = false;
  /** The export that `base:allocation` was selected for; a selection for another name does not count. */
  private allocationContextOf: string | undefined;
  private optionsSeen = 0;
  private peer: string | undefined;

  constructor(
    private readonly directory: ExportDirectory,
    private readonly send: (frame: Buffer) => void,
    private readonly tls: TlsOffer = 'off',
    private readonly client: HandshakeClient = {},
  ) {
    this.peer = client.peer;
  }

  greeting(): Buffer {
    const frame = Buffer.alloc(18);
    frame.writeUInt32BE(NBD_MAGIC[0], 0);
    frame.writeUInt32BE(NBD_MAGIC[1], 4);
    frame.writeUInt32BE(OPTION_MAGIC[0], 8);
    frame.writeUInt32BE(OPTION_MAGIC[1], 12);
    frame.writeUInt16BE(HandshakeFlag.FixedNewstyle | HandshakeFlag.NoZeroes, 16);
    return frame;
  }

  feed(chunk: Buffer): HandshakeStep {
    this.queue.push(chunk);
    const { peerBytes } = this.client;
    if (peerBytes !== undefined && this.peer === undefined) {
      if (this.queue.length < peerBytes) return MORE;
      this.peer = this.queue.take(peerBytes).toString('latin1');
    }
    if (!this.clientFlagsSeen) {
      if (this.queue.length < 4) return MORE;
      const problem = this.readClientFlags();
      if (problem !== undefined) return { kind: 'close', reason: problem };
    }
    for (;;) {
      const step = this.nextOption();
      if (step !== undefined) return step;
    }
  }

  private readClientFlags(): string | undefined {
    const flags = this.queue.take(4).readUInt32BE(0);
    this.clientFlagsSeen = true;
    this.noZeroes = (flags & HandshakeFlag.NoZeroes) !== 0;
    const known = HandshakeFlag.FixedNewstyle | HandshakeFlag.NoZeroes;
    return (flags & ~known) !== 0 ? `unknown client flags ${flags}` : undefined;
  }

  /** Handles one option; `undefined` if it was answered and the next may follow. */
  private nextOption(): HandshakeStep | undefined {
    if (this.pendingHeader === undefined) {
      if (this.queue.length < 16) return MORE;
      const header = this.queue.take(16);
      if (header.readUInt32BE(0) !== OPTION_MAGIC[0] || header.readUInt32BE(4) !== OPTION_MAGIC[1]) {
        return { kind: 'close', reason: 'an option has the wrong magic' };
      }
      this.optionsSeen += 1;
      if (this.optionsSeen > OPTIONS_MAX) return { kind: 'close', reason: 'too many options' };
      this.pendingHeader = { option: header.readUInt32BE(8), lengthBytes: header.readUInt32BE(12) };
    }
    const { option, lengthBytes } = this.pendingHeader;
    if (lengthBytes > OPTION_BYTES_MAX) {
      this.send(optionError(option, OptionReply.ErrTooBig, `at most ${OPTION_BYTES_MAX} bytes`));
      return { kind: 'close', reason: `an option of ${lengthBytes} bytes` };
    }
    if (this.queue.length < lengthBytes) return MORE;
    this.pendingHeader = undefined;
    return this.handleOption(option, this.queue.take(lengthBytes));
  }

  private pendingHeader: { option: number; lengthBytes: number } | undefined;

  private handleOption(option: number, data: Buffer): HandshakeStep | undefined {
    if (this.tls === 'require' && option !== Option.StartTls && option !== Option.Abort) {
      return this.refusePlaintext(option);
    }
    switch (option) {
      case Option.StartTls:
        return this.startTls(option, data);
      case Option.ExportName:
        return this.chooseByExportName(data);
      case Option.Go:
      case Option.Info:
        return this.chooseOrDescribe(option, data);
      case Option.Abort:
        this.send(optionReply(option, OptionReply.Ack));
        return { kind: 'close', reason: 'the client aborted' };
      case Option.List:
        return this.answerList(option, data);
      case Option.StructuredReply:
        return this.answerStructured(option, data);
      case Option.ListMetaContext:
      case Option.SetMetaContext:
        return this.answerMetaContext(option, data);
      default:
        this.send(optionError(option, OptionReply.ErrUnsupported, `option ${option} is not supported`));
        return undefined;
    }
  }

  /** Reveals nothing of any export, not even whether it exists. */
  private refusePlaintext(option: number): HandshakeStep | undefined {
    // EXPORT_NAME has no error reply; the specification requires a close.
    if (option === Option.ExportName) return { kind: 'close', reason: 'plaintext is not allowed' };
    return this.refuse(option, OptionReply.ErrTlsRequired, 'this server wants STARTTLS first');
  }

  private startTls(option: number, data: Buffer): HandshakeStep | undefined {
    if (this.tls === 'off') return this.refuse(option, OptionReply.ErrUnsupported, 'there is no TLS here');
    if (this.tls === 'inside') return this.refuse(option, OptionReply.ErrInvalid, 'this is TLS already');
    if (data.length > 0) return this.refuse(option, OptionReply.ErrInvalid, 'STARTTLS takes no data');
    // A correct client waits for the answer. Earlier bytes may have been injected in front of the tunnel by an
    // attacker.
    if (this.queue.length > 0) return { kind: 'close', reason: 'data in front of the TLS handshake' };
    return { kind: 'start-tls', noZeroes: this.noZeroes };
  }

  private chooseByExportName(data: Buffer): HandshakeStep {
    const exportName = data.toString('utf8');
    if (data.length > NAME_BYTES_MAX || this.directory.describe(exportName, this.peer) === undefined) {
      // EXPORT_NAME has no error reply; the specification requires a close.
      return { kind: 'close', reason: 'unknown export' };
    }
    return this.chosen(exportName, 'export-name');
  }

  private chooseOrDescribe(option: number, data: Buffer): HandshakeStep | undefined {
    const name = readOptionString(data, 0);
    const infosAt = name?.next ?? 0;
    const wellFormed =
      name !== undefined &&
      data.length >= infosAt + 2 &&
      data.length === infosAt + 2 + 2 * data.readUInt16BE(infosAt);
    if (!wellFormed) return this.refuse(option, OptionReply.ErrInvalid, 'malformed export request');
    if (name.text.length > NAME_BYTES_MAX) return this.refuse(option, OptionReply.ErrTooBig, 'name too long');

    const info = this.directory.describe(name.text, this.peer);
    if (info === undefined) return this.refuse(option, OptionReply.ErrUnknown, 'no such export');
    if (option === Option.Go) return this.chosen(name.text, 'go');
    this.send(infoReplies(option, info));
    return undefined;
  }

  private chosen(exportName: string, ending: Negotiated['ending']): HandshakeStep {
    const negotiated: Negotiated = {
      exportName,
      ending,
      noZeroes: this.noZeroes,
      structuredReplies: this.structuredReplies,
      allocationContext: this.allocationContextOf === exportName,
    };
    return { kind: 'chosen', negotiated, rest: this.queue.takeAll() };
  }

  /** Lists nothing: a name is what opens an export, and which volumes there are is for those who know one. */
  private answerList(option: number, data: Buffer): undefined {
    if (data.length > 0) return this.refuse(option, OptionReply.ErrInvalid, 'LIST takes no data');
    this.send(optionReply(option, OptionReply.Ack));
    return undefined;
  }

  private answerStructured(option: number, data: Buffer): undefined {
    if (data.length > 0) return this.refuse(option, OptionReply.ErrInvalid, 'STRUCTURED_REPLY takes no data');
    this.structuredReplies = true;
    this.send(optionReply(option, OptionReply.Ack));
    return undefined;
  }

  private answerMetaContext(option: number, data: Buffer): undefined {
    const select = option === Option.SetMetaContext;
    if (!this.structuredReplies && select) {
      return this.refuse(option, OptionReply.ErrInvalid, 'negotiate structured replies first');
    }
    const request = parseMetaContext(data);
    if (request === undefined)
      return this.refuse(option, OptionReply.ErrInvalid, 'malformed context request');
    const { exportName } = request;
    if (this.directory.describe(exportName, this.peer) === undefined) {
      return this.refuse(option, OptionReply.ErrUnknown, 'no such export');
    }
    const wanted = select
      ? request.queries.includes(ALLOCATION_CONTEXT)
      : request.queries.length === 0 || request.queries.some(matchesAllocation);
    if (select) this.allocationContextOf = wanted ? request.exportName : undefined;
    if (wanted) this.send(metaContextReply(option, select));
    this.send(optionReply(option, OptionReply.Ack));
    return undefined;
  }

  private refuse(option: number, type: number, message: string): undefined {
    this.send(optionError(option, type, message));
    return undefined;
  }
}

/** Final reply of the handshake, sent by the process that owns the export. */
export function handshakeReply(negotiated: Negotiated, info: ExportInfo): Buffer {
  return negotiated.ending === 'go'
    ? infoReplies(Option.Go, info)
    : exportNameReply(info, negotiated.noZeroes);
}

/** Reply to STARTTLS; the next bytes are the client's TLS handshake. */
export function startTlsReply(): Buffer {
  return optionReply(Option.StartTls, OptionReply.Ack);
}

/** Refusal of the chosen export; `undefined` if only closing the connection can express it. */
export function handshakeRefusal(negotiated: Negotiated, message: string): Buffer | undefined {
  return negotiated.ending === 'go' ? optionError(Option.Go, OptionReply.ErrUnknown, message) : undefined;
}

function matchesAllocation(query: string): boolean {
  return query === ALLOCATION_CONTEXT || query === 'base:';
}

function parseMetaContext(data: Buffer): { exportName: string; queries: string[] } | undefined {
  const name = readOptionString(data, 0);
  if (name === undefined || data.length < name.next + 4) return undefined;
  const count = data.readUInt32BE(name.next);
  const queries: string[] = [];
  let at = name.next + 4;
  // Each query takes at least four bytes, so the option's bounded size bounds this loop too.
  for (let i = 0; i < count; i += 1) {
    const query = readOptionString(data, at);
    if (query === undefined) return undefined;
    queries.push(query.text);
    at = query.next;
  }
  return at === data.length ? { exportName: name.text, queries } : undefined;
}
