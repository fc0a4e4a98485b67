/** Constants of the NBD protocol (fixed newstyle), named as in its specification. All fields are big-endian. */
import { KIB, MIB } from '@holdfast/core/model/bytes.js';

/** `NBDMAGIC` and `IHAVEOPT` as two 32-bit halves, because 64-bit reads would need BigInt. */
export const NBD_MAGIC = [0x4e42444d, 0x41474943] as const;
export const OPTION_MAGIC = [0x49484156, 0x454f5054] as const;
export const OPTION_REPLY_MAGIC = [0x0003e889, 0x045565a9] as const;
export const REQUEST_MAGIC = 0x25609513;
export const SIMPLE_REPLY_MAGIC = 0x67446698;
export const STRUCTURED_REPLY_MAGIC = 0x668e33ef;

export const HandshakeFlag = { FixedNewstyle: 1, NoZeroes: 2 } as const;

export const Option = {
  ExportName: 1,
  Abort: 2,
  List: 3,
  StartTls: 5,
  Info: 6,
  Go: 7,
  StructuredReply: 8,
  ListMetaContext: 9,
  SetMetaContext: 10,
} as const;

export const OptionReply = {
  Ack: 1,
  Info: 3,
  MetaContext: 4,
  ErrUnsupported: 0x80000001,
  ErrInvalid: 0x80000003,
  ErrTlsRequired: 0x80000005,
  ErrUnknown: 0x80000006,
  ErrTooBig: 0x80000009,
} as const;

export const InfoType = { Export: 0, Name: 1, Description: 2, BlockSize: 3 } as const;

export const TransmissionFlag = {
  HasFlags: 1 << 0,
  ReadOnly: 1 << 1,
  SendFlush: 1 << 2,
  SendFua: 1 << 3,
  SendTrim: 1 << 5,
  SendWriteZeroes: 1 << 6,
  SendDf: 1 << 7,
  MultiConn: 1 << 8,
} as const;

export const Command = {
  Read: 0,
  Write: 1,
  Disconnect: 2,
  Flush: 3,
  Trim: 4,
  WriteZeroes: 6,
  BlockStatus: 7,
} as const;
export type CommandType = (typeof Command)[keyof typeof Command];

export const CommandFlag = { Fua: 1, NoHole: 2, DontFragment: 4, RequestOne: 8 } as const;

export const ChunkFlag = { Done: 1 } as const;
export const ChunkType = {
  None: 0,
  OffsetData: 1,
  OffsetHole: 2,
  BlockStatus: 5,
  Error: 0x8001,
  ErrorOffset: 0x8002,
} as const;

export const NbdErrno = {
  None: 0,
  Perm: 1,
  Io: 5,
  NoMemory: 12,
  Invalid: 22,
  NoSpace: 28,
  Overflow: 75,
  NotSupported: 95,
  Shutdown: 108,
} as const;

/** Bits of a `base:allocation` extent. */
export const AllocationState = { Hole: 1, Zero: 2 } as const;
export const ALLOCATION_CONTEXT = 'base:allocation';
/** Id of the only metadata context, so it can be fixed. */
export const ALLOCATION_CONTEXT_ID = 1;

export const REQUEST_BYTES = 28;
export const SIMPLE_REPLY_BYTES = 16;
export const CHUNK_HEADER_BYTES = 20;

export const BLOCK_SIZE_PREFERRED = 4 * KIB;
/**
 * Maximum payload of one request: the specification's recommendation. It bounds what one request can make a process
 * hold.
 */
export const PAYLOAD_BYTES_MAX = 32 * MIB;

/** Longest export name the specification allows a client to rely on. */
export const NAME_BYTES_MAX = 4096;
/** Maximum length of an option: enough for a name, a count and some context queries. */
export const OPTION_BYTES_MAX = 16 * KIB;
/** Maximum number of options: enough for any real negotiation; stops a client that negotiates for ever. */
export const OPTIONS_MAX = 64;
