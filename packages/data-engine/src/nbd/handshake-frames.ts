import {
  ALLOCATION_CONTEXT,
  ALLOCATION_CONTEXT_ID,
  BLOCK_SIZE_PREFERRED,
  HandshakeFlag,
  InfoType,
  OPTION_REPLY_MAGIC,
  OptionReply,
  PAYLOAD_BYTES_MAX,
  TransmissionFlag,
} from './constants.js';

/** Size, flags and block size of an export, as a client needs them to use it. */
export type ExportInfo = { sizeBytes: number; readOnly: boolean; blockSizeMinBytes: number };

/** Result of the option phase, kept while another process takes the connection over. */
export type Negotiated = {
  exportName: string;
  /** How the client ended the options: by GO, or by EXPORT_NAME, which has no way to report an error. */
  ending: 'go' | 'export-name';
  noZeroes: boolean;
  structuredReplies: boolean;
  /** True when `base:allocation` was selected for this very export. */
  allocationContext: boolean;
};

export function writeUint64(target: Buffer, value: number, at: number): void {
  target.writeUInt32BE(Math.floor(value / 2 ** 32), at);
  target.writeUInt32BE(value % 2 ** 32, at + 4);
}

/** May exceed the exact integers of a number; safe, as every caller compares it with a size, which does not. */
export function readUint64(source: Buffer, at: number): number {
  return source.readUInt32BE(at) * 2 ** 32 + source.readUInt32BE(at + 4);
}

/** Length of the server's greeting: two magic numbers and its flags. */
export const GREETING_BYTES = 18;

/** The client's answer to the greeting. */
export function clientFlags(noZeroes: boolean): Buffer {
  const flags = Buffer.alloc(4);
  flags.writeUInt32BE(HandshakeFlag.FixedNewstyle | (noZeroes ? HandshakeFlag.NoZeroes : 0), 0);
  return flags;
}

export function optionReply(option: number, type: number, data: Buffer = Buffer.alloc(0)): Buffer {
  const frame = Buffer.alloc(20 + data.length);
  frame.writeUInt32BE(OPTION_REPLY_MAGIC[0], 0);
  frame.writeUInt32BE(OPTION_REPLY_MAGIC[1], 4);
  frame.writeUInt32BE(option, 8);
  frame.writeUInt32BE(type, 12);
  frame.writeUInt32BE(data.length, 16);
  data.copy(frame, 20);
  return frame;
}

export function optionError(option: number, type: number, message: string): Buffer {
  return optionReply(option, type, Buffer.from(message, 'utf8'));
}

export function transmissionFlags({ readOnly }: ExportInfo): number {
  const both =
    TransmissionFlag.HasFlags |
    TransmissionFlag.SendFlush |
    TransmissionFlag.SendFua |
    TransmissionFlag.SendDf |
    TransmissionFlag.MultiConn;
  return readOnly
    ? both | TransmissionFlag.ReadOnly
    : both | TransmissionFlag.SendTrim | TransmissionFlag.SendWriteZeroes;
}

/** Reply to EXPORT_NAME: size and flags, without any header. */
export function exportNameReply(info: ExportInfo, noZeroes: boolean): Buffer {
  const reply = Buffer.alloc(noZeroes ? 10 : 134);
  writeUint64(reply, info.sizeBytes, 0);
  reply.writeUInt16BE(transmissionFlags(info), 8);
  return reply;
}

/** Replies to INFO or GO: size and flags, then the block sizes, then the acknowledgement. */
export function infoReplies(option: number, info: ExportInfo): Buffer {
  const exportInfo = Buffer.alloc(12);
  exportInfo.writeUInt16BE(InfoType.Export, 0);
  writeUint64(exportInfo, info.sizeBytes, 2);
  exportInfo.writeUInt16BE(transmissionFlags(info), 10);

  const blockSize = Buffer.alloc(14);
  blockSize.writeUInt16BE(InfoType.BlockSize, 0);
  blockSize.writeUInt32BE(info.blockSizeMinBytes, 2);
  blockSize.writeUInt32BE(BLOCK_SIZE_PREFERRED, 6);
  blockSize.writeUInt32BE(PAYLOAD_BYTES_MAX, 10);

  return Buffer.concat([
    optionReply(option, OptionReply.Info, exportInfo),
    optionReply(option, OptionReply.Info, blockSize),
    optionReply(option, OptionReply.Ack),
  ]);
}

export function metaContextReply(option: number, select: boolean): Buffer {
  const name = Buffer.from(ALLOCATION_CONTEXT);
  const data = Buffer.alloc(4 + name.length);
  // The specification requires 0 in a mere listing.
  data.writeUInt32BE(select ? ALLOCATION_CONTEXT_ID : 0, 0);
  name.copy(data, 4);
  return optionReply(option, OptionReply.MetaContext, data);
}

/** A length-prefixed string at the start of an option's data, or `undefined` when the data is too short for it. */
export function readOptionString(data: Buffer, at: number): { text: string; next: number } | undefined {
  if (data.length < at + 4) return undefined;
  const length = data.readUInt32BE(at);
  const next = at + 4 + length;
  return data.length < next ? undefined : { text: data.toString('utf8', at + 4, next), next };
}
