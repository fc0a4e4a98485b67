/**
 * Stacks of errors with the positions of the sources instead of those of the built files. A source map is read when a stack is
 * logged.
 */
import fs from 'node:fs';
import { SourceMap } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** `file:///opt/holdfast/apps/api/dist/app.js:12:5`, as a line of a stack has it. */
const POSITION = /(file:\/\/[^\s()]+\/dist\/[^\s():]+\.js):(\d+):(\d+)/g;
/** A process logs few different ones; beyond this all are forgotten, at some hundred bytes each. */
const POSITIONS_MAX = 1_000;

const known = new Map<string, string>();

export function withSourcePositions(stack: string): string {
  return stack.replace(POSITION, sourcePosition);
}

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
