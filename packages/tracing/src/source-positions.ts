/**
 * Errors in a log, with the positions of the sources instead of those of the built files. A source map is read when an error is
 * logged: Node's own `--enable-source-maps` reads that of every module at its start, those of packages too, and keeps 10 MB of them
 * in the API.
 */
import pino from 'pino';
import { withSourcePositions } from './stack-positions.js';

/** For a logger's errors: `pino({ serializers: errorSerializers })`. */
export const errorSerializers = {
  err(error: Error): object {
    const told = pino.stdSerializers.err(error);
    // A thrown value that is no Error is logged as it is.
    if (typeof told?.stack !== 'string') return told;
    return { ...told, stack: withSourcePositions(told.stack) };
  },
};
