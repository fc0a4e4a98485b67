/** Logs as pieces of whole lines: a log may be larger than memory. */
import { StringDecoder } from 'node:string_decoder';
import { MIB } from '@holdfast/core/model/bytes.js';

export type LogPiece = { readonly firstLine: number; readonly text: string };

/** A line beyond this is cut: no signature needs so much of one. */
const LINE_CHARS_MAX = MIB;

export async function* logPieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<LogPiece> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let firstLine = 1;
  for await (const chunk of chunks) {
    const text = rest + decoder.write(chunk);
    const end = text.lastIndexOf('\n') + 1;
    if (end > 0) {
      const piece = text.slice(0, end);
      yield { firstLine, text: piece };
      firstLine += linesIn(piece);
    }
    rest = text.slice(end, end + LINE_CHARS_MAX);
  }
  rest += decoder.end();
  if (rest !== '') yield { firstLine, text: rest };
}

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
