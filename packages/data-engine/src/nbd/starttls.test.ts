import { describe, expect, test } from '@jest/globals';
import { ServerHandshake, type TlsOffer } from './server-handshake.js';

const STARTTLS = 5;
const INFO = { sizeBytes: 4096, readOnly: false, blockSizeMinBytes: 1 };

function option(code: number, data = ''): Buffer {
  const head = Buffer.alloc(16);
  head.write('IHAVEOPT', 0, 'latin1');
  head.writeUInt32BE(code, 8);
  head.writeUInt32BE(data.length, 12);
  return Buffer.concat([head, Buffer.from(data, 'latin1')]);
}

/** The server's reaction to these bytes after the client's flags: its last step, and the types of its replies. */
function talk(offer: TlsOffer, ...frames: Buffer[]): { step: string; replies: number[]; bytes: string } {
  const sent: Buffer[] = [];
  const directory = { describe: () => INFO };
  const handshake = new ServerHandshake(directory, (frame) => sent.push(frame), offer);
  const step = handshake.feed(Buffer.concat([Buffer.from([0, 0, 0, 3]), ...frames])).kind;
  return { step, replies: sent.map((frame) => frame.readUInt32BE(12)), bytes: String(Buffer.concat(sent)) };
}

const UNSUPPORTED = 0x80000001;
const INVALID = 0x80000003;
const TLS_REQUIRED = 0x80000005;
const GO = '\0\0\0\x01x\0\0';

describe('STARTTLS', () => {
  test.each<{ offer: TlsOffer; step: string; replies: number[] }>([
    { offer: 'off', step: 'more', replies: [UNSUPPORTED] },
    { offer: 'allow', step: 'start-tls', replies: [] },
    { offer: 'require', step: 'start-tls', replies: [] },
    { offer: 'inside', step: 'more', replies: [INVALID] },
  ])('where TLS is $offer', ({ offer, step, replies }) => {
    expect(talk(offer, option(STARTTLS))).toMatchObject({ step, replies });
  });

  test('takes no data', () => {
    expect(talk('allow', option(STARTTLS, 'x'))).toMatchObject({ step: 'more', replies: [INVALID] });
  });

  test.each([
    { name: 'another option', more: option(3) },
    { name: 'the beginning of one', more: Buffer.from('I') },
  ])('$name sent along before the answer closes the connection', ({ more }) => {
    expect(talk('allow', option(STARTTLS), more)).toMatchObject({ step: 'close', replies: [] });
    expect(talk('require', option(STARTTLS), more)).toMatchObject({ step: 'close', replies: [] });
  });
});

describe('plaintext where TLS is required', () => {
  test.each([
    { name: 'LIST', frame: option(3) },
    { name: 'INFO', frame: option(6, GO) },
    { name: 'GO', frame: option(7, GO) },
    { name: 'STRUCTURED_REPLY', frame: option(8) },
    { name: 'LIST_META_CONTEXT', frame: option(9, `${GO}\0\0`) },
    { name: 'SET_META_CONTEXT', frame: option(10, `${GO}\0\0`) },
    { name: 'an unknown option', frame: option(99) },
  ])('$name is refused without a word about exports', ({ frame }) => {
    const { step, replies, bytes } = talk('require', frame);
    expect({ step, replies }).toEqual({ step: 'more', replies: [TLS_REQUIRED] });
    expect(bytes).not.toContain('a-name');
    expect(talk('allow', frame).replies).not.toContain(TLS_REQUIRED);
  });

  test('EXPORT_NAME, which knows no error, closes; ABORT is answered', () => {
    expect(talk('require', option(1, 'x'))).toMatchObject({ step: 'close', replies: [] });
    expect(talk('allow', option(1, 'x')).step).toBe('chosen');
    expect(talk('require', option(2)).step).toBe('close');
  });
});
