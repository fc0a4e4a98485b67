/**
 * Errors in a log, with the positions of the sources instead of those of the built files. A source map is read when an error is told:
 * Node's own `--enable-source-maps` reads that of every module at its start, those of packages too, and keeps 10 MB of them in the API.
 */
import fs from 'node:fs';
import { SourceMap } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pino from 'pino';

/** `file:///opt/holdfast/apps/api/dist/app.js:12:5`, as a line of a stack has it. */
const POSITION = /(file:\/\/[^\s()]+\/dist\/[^\s():]+\.js):(\d+):(\d+)/g;
/** A process tells few different ones; past this all are forgotten, at some hundred bytes each. */
const POSITIONS_MAX = 1_000;

const known = new Map<string, string>();

/** For a logger's errors: `pino({ serializers: errorSerializers })`. */
export const errorSerializers = {
  err(error: Error): object {
    const told = pino.stdSerializers.err(error);
    // An error that was no Error is told as it is.
    if (typeof told?.stack !== 'string') return told;
    return { ...told, stack: told.stack.replace(POSITION, sourcePosition) };
  },
};

function sourcePosition(position: string, url: string, line: string, column: string): string {
  let found = known.get(position);
  if (found === undefined) {
    if (known.size >= POSITIONS_MAX) known.clear();
    found = mapped(fileURLToPath(url), Number(line), Number(column)) ?? position;
    known.set(position, found);
  }
  return found;
}

/** @returns undefined where there is no source map, as in a package that was built without one */
function mapped(file: string, line: number, column: number): string | undefined {
  try {
    const origin = new SourceMap(JSON.parse(fs.readFileSync(`${file}.map`, 'utf8'))).findOrigin(line, column);
    if (!('fileName' in origin)) return undefined;
    const { fileName, lineNumber, columnNumber } = origin;
    return `${path.resolve(path.dirname(file), fileName)}:${lineNumber}:${columnNumber}`;
  } catch {
    return undefined;
  }
}
