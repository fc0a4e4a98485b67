import fs from 'node:fs';
import path from 'node:path';
import { makePrivateFolder, openPrivateLog } from './private-file.js';

/** Log of the stack: `say` prints on the terminal and writes to the file, `note` only writes. */
export type StackLog = {
  say(line: string): void;
  note(line: string): void;
};

/** The log in the home's folder of logs, which may not exist yet at the first line. */
export function stackLog(home: string): StackLog {
  const note = (line: string) => {
    const directory = path.join(home, 'logs');
    makePrivateFolder(directory);
    const log = openPrivateLog(path.join(directory, 'stack.log'));
    fs.writeSync(log, `${new Date().toISOString()} ${line}\n`);
    fs.closeSync(log);
  };
  return {
    note,
    say(line) {
      console.log(`holdfast: ${line}`);
      note(line);
    },
  };
}
